"""Drives agent-memory-engine: drive_agent_memory.py DATA PLACE OUT."""

import struct
import uuid

import harness
from agent_memory.client import MemoryClient
from agent_memory.config import AgentMemoryConfig
from agent_memory.models import MemoryItem, MemoryType


class LookUp:
    """Its provider's interface. Before it embeds a question it cuts words like "what is" out of it; all systems are given
    the vector of the question as it was asked, so that of the present question answers for a text that is not known."""

    dimension = harness.DIMS

    def __init__(self, data):
        self.data = data
        self.asked = None

    def embed(self, texts):
        return [self.one(text) for text in texts]

    def one(self, text):
        if text not in self.data.rows and self.asked is not None:
            text = self.asked
        return list(struct.unpack(f"<{harness.DIMS}f", self.data.vector(text)))


class AgentMemory:
    NAME = "agent-memory-engine"
    FACTS = {
        "version": "0.2.1",
        "durability": "WAL, synchronous FULL (SQLite's); a recall writes and commits once a hit",
        "bulk": "backend.add_memory(), as its importer does, without fsync; not add(), which looks for conflicts first",
        "projects": "none",
    }

    def __init__(self, data):
        self.provider = LookUp(data)

    def open(self, path):
        config = AgentMemoryConfig(database_path=path)
        self.client = MemoryClient(config=config, embedding_provider=self.provider)
        if not self.client.backend._sqlite_vec_enabled:
            raise SystemExit("agent-memory-engine runs without sqlite-vec: this Python's sqlite3 cannot load extensions")

    def close(self):
        self.client.close()

    def store(self, identity, text, _project):
        self.client.add(text, source_id=identity)

    def store_all(self, items):
        with harness.without_fsync(self.execute):
            for identity, text, _project in items:
                item = MemoryItem(
                    id=str(uuid.uuid4()),
                    content=text,
                    memory_type=MemoryType.SEMANTIC,
                    embedding=self.provider.one(text),
                    source_id=identity,
                    entity_refs=self.client.entity_extractor.extract(text),
                )
                self.client.backend.add_memory(item)

    def execute(self, statement):
        row = self.client.backend.connection.execute(statement).fetchone()
        return row[0] if row else None

    def recall(self, text, _project):
        self.provider.asked = text
        return [hit.item.source_id for hit in self.client.search(text, limit=harness.LIMIT)]


if __name__ == "__main__":
    harness.run(AgentMemory)
