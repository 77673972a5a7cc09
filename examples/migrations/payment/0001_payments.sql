CREATE TABLE payments (
    idempotency_key TEXT    PRIMARY KEY,
    order_id        TEXT    NOT NULL,
    amount          INTEGER NOT NULL CHECK (amount > 0),
    -- TIMEOUT is "unknown": the provider may have charged.
    status          TEXT    NOT NULL CHECK (status IN ('REQUESTED', 'APPROVED', 'REJECTED', 'TIMEOUT'))
) STRICT;
