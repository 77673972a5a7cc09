-- How often the order was paid anew after a payment that was declined.
ALTER TABLE orders ADD COLUMN payment_attempt INTEGER NOT NULL DEFAULT 0;

-- Whether the payment service was asked: only then may it be asked again on the order's behalf.
ALTER TABLE orders ADD COLUMN payment_begun INTEGER NOT NULL DEFAULT 0 CHECK (payment_begun IN (0, 1));

-- When the payment was last asked for, in milliseconds since 1970.
ALTER TABLE orders ADD COLUMN touched_at INTEGER NOT NULL DEFAULT 0;

CREATE INDEX pending_orders ON orders (touched_at)
    WHERE payment_status = 'PENDING' AND payment_begun = 1;
