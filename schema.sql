-- Everything Posthouse keeps on disk. Embedded into the binary and run once on an empty file.
-- Times end in _ms: Unix milliseconds. Ids are RequestId.sequence, so rows lie in order of acceptance.
-- What every insert checks names its words with "or": SQLite makes a table of its own for each "in" of
-- more than two, which costs more than the rest of the insert.

create table request (
    id          integer primary key,
    random      integer not null,
    kind        text    not null check (
                    kind = 'input_proof' or kind = 'public_decrypt' or kind = 'user_decrypt' or
                    kind = 'delegated_user_decrypt' or kind = 'unified_user_decrypt' or
                    kind = 'share'),
    status      text    not null check (
                    status = 'queued' or status = 'processing' or status = 'tx_in_flight' or
                    status = 'receipt_received' or status = 'completed' or
                    status = 'timed_out' or status = 'failure'),
    -- Which queue the row stands in: 0 schedule (shares that wait for their time), 1 gate (waits for a
    -- permit or a token), 2 timer (a pause, a lease or a deadline), from 8 on ended, one per family.
    lane        integer not null check (lane between 0 and 2 or lane between 8 and 11),
    -- When the row must be looked at again; of an ended row, the time its retention counts from.
    wake_ms     integer not null check (wake_ms >= 0),
    status_ms   integer not null,
    -- Give up then; 0 while no deadline runs.
    deadline_ms integer not null default 0,
    -- Started pieces of work that have not answered yet: what is not 0 after a crash was cut off.
    claims      integer not null default 0,
    -- Answered tries of this status that count against the budget, and those that do not.
    attempts    integer not null default 0,
    faults      integer not null default 0,
    -- Since when no node could be reached for it, nothing being signed; and since when the nodes refuse
    -- what is signed, for no reason that is known. 0: not so.
    unreached_ms integer not null default 0,
    refused_ms   integer not null default 0,
    -- The first 8 bytes of identity_key while another request may still be found to be the same.
    dedup       integer,
    identity_key     blob not null check (length(identity_key) = 32),
    -- Null: equal to the key; of a share, whose content never is, not known (an import of a wiped one).
    identity_content blob check (length(identity_content) = 32),
    round       integer references round (id),
    reference   blob check (length(reference) = 32),
    reason      text,
    detail      text,
    selector    integer,
    -- Who asked: 0 nobody known, otherwise the id of a client key.
    client      integer not null default 0,
    check ((lane >= 8) =
           (status = 'completed' or status = 'timed_out' or status = 'failure')),
    check ((reason is not null) = (status = 'timed_out' or status = 'failure')),
    check (kind = 'share' or round is null)
) strict;

create index request_due on request (lane, wake_ms);
create index request_dedup on request (dedup) where dedup is not null;
create index request_reference on request (reference) where reference is not null;
-- The shares of a round that wait for their time: lane 0.
create index request_waiting on request (round) where lane = 0;

-- What was asked, in the binary form of domain::encode; of shares it goes with the terminal commit.
create table payload (
    id   integer primary key references request (id),
    body blob not null
) strict;

-- The accounts that sign for us, each known by a small number.
create table account (
    id      integer primary key,
    address text    not null unique
) strict;

-- Every transaction ever sealed for a request.
create table attempt (
    id        integer not null references request (id),
    ordinal   integer not null,
    nonce     integer not null,
    hash      blob    not null check (length(hash) = 32),
    sealed    blob    not null,
    sealed_ms integer not null,
    -- Whose nonce it is. Null: the one account there was, or a chain without accounts.
    account   integer references account (id),
    -- The block that has it, and what it cost there, as far as the chain told; null: none has it, or not known.
    block     integer,
    gas       integer,
    gas_price integer,
    primary key (id, ordinal)
) strict, without rowid;

-- Transactions of our own, for no request: what fills a gap between nonces, and approvals. One row for each
-- that was signed, so several of one nonce while fees rise.
create table own_transaction (
    account   integer not null references account (id),
    nonce     integer not null,
    hash      blob    not null check (length(hash) = 32),
    purpose   text    not null check (purpose in ('filler', 'approval')),
    sealed    blob    not null,
    sealed_ms integer not null,
    -- What became of it, once the nonce is used: 'included', 'reverted' or 'replaced'.
    fate      text    check (fate in ('included', 'reverted', 'replaced')),
    fate_ms   integer,
    primary key (account, nonce, hash),
    check ((fate is null) = (fate_ms is null))
) strict, without rowid;

-- Where the chain has the transaction of a request, while that may still change: the block is less deep
-- than reorganisations are looked for, or the request waits for its answer. Without a row it is final.
create table inclusion (
    id         integer primary key references request (id),
    hash       blob    not null check (length(hash) = 32),
    -- Null: the block was replaced, and the transaction is on its way again.
    block      integer,
    block_hash blob    check (length(block_hash) = 32),
    -- The id the chain gave the request there. An ended request keeps the one it ended with.
    reference  blob    check (length(reference) = 32),
    -- So deep that nobody looks again; kept while the request waits for its answer.
    buried     integer not null default 0,
    check ((block is null) = (block_hash is null))
) strict;

create index inclusion_block on inclusion (block);
create index inclusion_reference on inclusion (reference) where reference is not null;

-- What a request went through: each status it got, what an operator did with it, and at ordinal -1 what it
-- met last on the way. Never of shares. The first status is that of its kind, when it was accepted.
create table history (
    id      integer not null references request (id),
    ordinal integer not null,
    stage   text    not null,
    at_ms   integer not null,
    cause   text    not null,
    note    text    not null,
    -- How many it stands for: the last ordinal takes the place of those before it.
    times   integer not null default 1,
    primary key (id, ordinal)
) strict, without rowid;

create table result (
    id   integer primary key references request (id),
    body blob not null
) strict;

-- Answers of the chain that can not be applied yet: their request has no receipt, or shares are missing.
create table answer (
    position   integer primary key,
    reference  blob    not null check (length(reference) = 32),
    slot       integer not null,
    body       blob    not null,
    arrived_ms integer not null,
    -- Where it was read; null: in a block that can not change.
    block      integer,
    block_hash blob    check (length(block_hash) = 32),
    unique (reference, slot)
) strict;

-- The Idempotency-Key of a POST, hashed with its route; lives as long as its request.
create table idempotency (
    key     blob    primary key check (length(key) = 32),
    request integer not null references request (id)
) strict, without rowid;

create index idempotency_request on idempotency (request);

-- What an administrator changed at run time, as JSON; the configuration file is the base. Names that
-- begin with ~ are notes of the program itself.
create table setting (
    name  text primary key,
    value text not null
) strict, without rowid;

-- How far each listener has read, moved in the commit of the moves it caused.
create table cursor (
    listener text primary key,
    position integer not null
) strict, without rowid;

-- Requests that wait for the operator: another process may have sent them (a restored backup, a chain
-- that is ahead). Released ones stay here, so that they are not held for the same reason again.
create table hold (
    id       integer primary key references request (id),
    -- Steady time: deadlines stand still from then on.
    since_ms integer not null,
    released integer not null default 0
) strict;

create table round (
    id          integer primary key,
    round_id    blob    not null unique check (length(round_id) = 32),
    vote_end_ms integer not null,
    total       integer not null default 0,
    submitted   integer not null default 0,
    failed      integer not null default 0,
    timed_out   integer not null default 0,
    closed      integer not null default 0
) strict;

create index round_end on round (closed, vote_end_ms);

-- Rounds that closed with shares that were not revealed (share-helper 3.3), as they stood then.
-- Written in the commit that closes the round, or that drops the first share that comes after it when
-- all others were revealed. `taken` is 0 until whoever is to be told was told, then 1 and the number of
-- later shares that were told as well; `logged` likewise of the lines in the log.
create table alert (
    round     integer primary key references round (id),
    raised_ms integer not null,
    total     integer not null,
    submitted integer not null,
    failed    integer not null,
    pending   integer not null,
    taken     integer not null default 0,
    logged    integer not null default 0,
    -- Of the submitted ones: how many the chain was not seen to have (helper.confirm_reveals off).
    unconfirmed integer not null default 0
) strict;

-- How far this file is in the journal of its book, moved in the commit of each entry. Without a row it
-- belongs to no book. This table and the next are of this file alone: no journal has them, no digest.
create table journal_position (
    id       integer primary key check (id = 1),
    book     text    not null,
    shard    integer not null,
    seq      integer not null check (seq >= 0),
    epoch    integer not null check (epoch >= 0),
    hash     blob    not null check (length(hash) = 32),
    -- Why it can not go on: its rows are not those of the journal. Null: it can.
    diverged text
) strict;

-- Written to find out whether the disk takes writes.
create table probe (
    id    integer primary key check (id = 1),
    times integer not null
) strict;
