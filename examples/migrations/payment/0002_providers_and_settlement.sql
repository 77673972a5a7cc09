-- Who is asked for the money, or was; none while the payment waits in the queue.
ALTER TABLE payments ADD COLUMN provider TEXT;

-- What names the charge at the provider: written down before it is asked, so that whoever asks again,
-- after a crash as well, asks for the same charge.
ALTER TABLE payments ADD COLUMN charge_key TEXT;

-- Who brought the outcome.
ALTER TABLE payments ADD COLUMN settled_by TEXT
    CHECK (settled_by IN ('ANSWER', 'CALLBACK', 'RECONCILER'));

-- When the payment was last worked on, in milliseconds since 1970.
ALTER TABLE payments ADD COLUMN touched_at INTEGER NOT NULL DEFAULT 0;

-- Payments from before have no key to be asked for by: what is open of them is for people to settle.
UPDATE payments SET status = 'TIMEOUT' WHERE status = 'REQUESTED';

-- The reconciler's work, which is little among all payments.
CREATE INDEX open_payments ON payments (status, touched_at) WHERE status IN ('REQUESTED', 'TIMEOUT');
