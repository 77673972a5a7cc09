-- When the order was written down, in milliseconds since 1970; of orders from before nobody knows, so they
-- are never withdrawn for their age.
ALTER TABLE orders ADD COLUMN placed_at INTEGER;

-- Whether the order is being taken back: nobody goes on with it, and it is deleted once its stock is given
-- back. One whose payment was begun never is.
ALTER TABLE orders ADD COLUMN withdrawing INTEGER NOT NULL DEFAULT 0
    CHECK (withdrawing IN (0, 1) AND (withdrawing = 0 OR payment_begun = 0));

CREATE INDEX unbegun_orders ON orders (placed_at) WHERE payment_begun = 0;
