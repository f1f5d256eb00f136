#!/bin/sh
# Fetches the corpus' sources from Debian's archive and unpacks them into a folder. Needs apt, but no root.
# Usage: fetch.sh FOLDER
set -eu
folder=$1
mkdir -p "$folder/packages" "$folder/root"
cd "$folder/packages"
apt-get download wordnet-base python3.11-doc manpages manpages-dev git-man fortunes fortunes-min
for package in *.deb; do
    dpkg -x "$package" ../root
done
apt-cache dumpavail >../debian-packages.txt
