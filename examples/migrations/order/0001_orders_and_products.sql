-- The catalogue is the order service's own: reading it needs no other service.
CREATE TABLE products (
    sku   TEXT    PRIMARY KEY,
    name  TEXT    NOT NULL,
    price INTEGER NOT NULL CHECK (price > 0)
) STRICT;

INSERT INTO products (sku, name, price) VALUES
    ('book', 'A book about failure', 12000),
    ('lamp', 'A reading lamp', 34000),
    ('unicorn', 'A unicorn, sold out for centuries', 99000);

CREATE TABLE orders (
    order_id        TEXT    PRIMARY KEY,
    -- What the client calls the order, if it calls it anything.
    idempotency_key TEXT    UNIQUE,
    user_id         INTEGER NOT NULL,
    sku             TEXT    NOT NULL,
    quantity        INTEGER NOT NULL CHECK (quantity > 0),
    amount          INTEGER NOT NULL CHECK (amount > 0),
    status          TEXT    NOT NULL CHECK (status IN ('ORDERED', 'CONFIRMED')),
    payment_status  TEXT    NOT NULL CHECK (payment_status IN ('PENDING', 'APPROVED', 'REJECTED')),
    -- An order is confirmed by its payment and by nothing else.
    CHECK ((status = 'CONFIRMED') = (payment_status = 'APPROVED'))
) STRICT;
