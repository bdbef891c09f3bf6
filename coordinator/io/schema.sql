-- schema.sql - version 1 of the journal: a fact a row, in the order of id
--
-- body is the fact and the only column that is read back; those before it repeat parts of it for
-- people and their queries, NULL where the fact has none. A released version is never edited: the
-- next one is a step of its own (store_schema.c).
--
-- SPDX-License-Identifier: BSD-2-Clause
CREATE TABLE fact (
	id INTEGER PRIMARY KEY,
	wall_us INTEGER,
	kind TEXT NOT NULL,
	round INTEGER,
	build INTEGER,
	attempt INTEGER,
	host TEXT,
	body TEXT NOT NULL
) STRICT;
