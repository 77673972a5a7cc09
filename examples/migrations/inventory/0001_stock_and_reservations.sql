CREATE TABLE stock (
    sku       TEXT    PRIMARY KEY,
    available INTEGER NOT NULL CHECK (available >= 0)
) STRICT;

INSERT INTO stock (sku, available) VALUES ('book', 100000), ('lamp', 100000), ('unicorn', 0);

CREATE TABLE reservations (
    order_id TEXT    PRIMARY KEY,
    sku      TEXT    NOT NULL REFERENCES stock (sku),
    quantity INTEGER NOT NULL CHECK (quantity > 0)
) STRICT;
