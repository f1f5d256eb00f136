"""Drives rekal: drive_rekal.py DATA PLACE OUT."""

import asyncio

import harness
from rekal.adapters.sqlite_adapter import SqliteDatabase
from rekal.scoring import resolve_weights


class Rekal:
    NAME = "rekal"
    FACTS = {
        "version": "3.4.0",
        "durability": "rollback journal, synchronous FULL (SQLite's)",
        "bulk": "store(), which commits each, without fsync: it has no bulk",
    }

    def __init__(self, data):
        self.data = data
        self.loop = asyncio.new_event_loop()
        self.weights = resolve_weights()
        # It makes its own ids and has no field for another.
        self.ids = {}

    def open(self, path):
        self.db = self.loop.run_until_complete(SqliteDatabase.create(path, self.data.vector))

    def close(self):
        self.loop.run_until_complete(self.db.close())

    async def put(self, identity, text, project):
        self.ids[await self.db.store(text, project=project)] = identity

    def store(self, identity, text, project):
        self.loop.run_until_complete(self.put(identity, text, project))

    def store_all(self, items):
        async def put_all():
            for item in items:
                await self.put(*item)

        with harness.without_fsync(self.execute):
            self.loop.run_until_complete(put_all())

    def execute(self, statement):
        async def ask():
            async with self.db.db.execute(statement) as cursor:
                row = await cursor.fetchone()
                return row[0] if row else None

        return self.loop.run_until_complete(ask())

    def recall(self, text, project):
        search = self.db.search(text, limit=harness.LIMIT, project=project, weights=self.weights)
        return [self.ids[hit.id] for hit in self.loop.run_until_complete(search)]


if __name__ == "__main__":
    harness.run(Rekal)
