// What is shown of each pattern.

import {
  menuCell, meterCell, nameCell, rateCell, sinceCell, stateCell, textCell, usageCell, windowCell,
} from "./cells.js";
import { count, setting, share } from "./words.js";

// `trouble` ranks by classes, not by values, so that rows stay where they are while numbers move.
const TROUBLE = { OPEN: 5, FORCED_OPEN: 4, HALF_OPEN: 3, DISABLED: 1, METRICS_ONLY: 1 };

function breakerTrouble(breaker) {
  const failing = breaker.failureRate >= breaker.failureRateThreshold;
  const slow = breaker.slowCallRate >= breaker.slowCallRateThreshold;
  return TROUBLE[breaker.state] ?? (failing || slow ? 2 : 0);
}

const failed = (retry) => retry.failedWithRetry + retry.failedWithoutRetry;
const succeeded = (retry) => retry.successfulWithRetry + retry.successfulWithoutRetry;
const slotsUsed = (bulkhead) => bulkhead.maxConcurrentCalls - bulkhead.availableConcurrentCalls;

export const PATTERNS = [
  {
    list: "circuitBreakers",
    title: "Circuit breakers",
    trouble: breakerTrouble,
    rate: (breaker) => breaker.failureRate,
    columns: [
      stateCell,
      nameCell,
      rateCell("Failure rate", (b) => b.failureRate, (b) => b.failureRateThreshold, (b) => b.failedCalls),
      rateCell("Slow rate", (b) => b.slowCallRate, (b) => b.slowCallRateThreshold, (b) => b.slowCalls),
      windowCell,
      textCell("Not permitted", (b) => count(b.notPermittedCalls)),
      sinceCell,
      menuCell,
    ],
  },
  {
    list: "rateLimiters",
    title: "Rate limiters",
    trouble: (limiter) => Number(limiter.availablePermissions <= 0 || limiter.waiting > 0),
    rate: (limiter) => share(limiter.refused, limiter.permitted + limiter.refused),
    columns: [
      nameCell,
      meterCell("Permits", (limiter) => {
        const [left, max] = [limiter.availablePermissions, limiter.limitForPeriod];
        const text = `${count(left)} / ${count(max)}`;
        const shared = limiter.scope === "global" ? ", shared" : "";
        const note = `per ${setting(limiter.limitRefreshPeriodMs)}${shared}`;
        const says = `${count(left)} of ${count(max)} permits left`;
        return { value: left, max, mark: null, text, note, says };
      }),
      textCell("Waiting", (limiter) => count(limiter.waiting)),
      textCell("Permitted", (limiter) => count(limiter.permitted)),
      textCell("Refused", (limiter) => count(limiter.refused)),
    ],
  },
  {
    list: "bulkheads",
    title: "Bulkheads",
    trouble: (bulkhead) => Number(bulkhead.availableConcurrentCalls <= 0 || bulkhead.waiting > 0),
    rate: (bulkhead) => share(bulkhead.rejected, bulkhead.permitted + bulkhead.rejected),
    columns: [
      nameCell,
      usageCell("Slots used", slotsUsed, (b) => b.maxConcurrentCalls, "slots in use"),
      textCell("Waiting", (bulkhead) => count(bulkhead.waiting)),
      textCell("Permitted", (bulkhead) => count(bulkhead.permitted)),
      textCell("Rejected", (bulkhead) => count(bulkhead.rejected)),
    ],
  },
  {
    list: "threadPoolBulkheads",
    title: "Thread pools",
    trouble: (pool) => Number(pool.queueDepth > 0 && pool.queueDepth >= pool.queueCapacity),
    rate: (pool) => share(pool.rejected, pool.permitted + pool.rejected),
    columns: [
      nameCell,
      usageCell("Active threads", (p) => p.activeThreads, (p) => p.maxThreadPoolSize, "threads at work"),
      textCell("Alive", (pool) => count(pool.threadPoolSize)),
      usageCell("Queue", (p) => p.queueDepth, (p) => p.queueCapacity, "places taken"),
      textCell("Permitted", (pool) => count(pool.permitted)),
      textCell("Rejected", (pool) => count(pool.rejected)),
    ],
  },
  {
    list: "retries",
    title: "Retries",
    trouble: () => 0,
    rate: (retry) => share(failed(retry), failed(retry) + succeeded(retry)),
    columns: [
      nameCell,
      textCell("Calls", (retry) => count(failed(retry) + succeeded(retry))),
      textCell("At once", (retry) => count(retry.successfulWithoutRetry)),
      textCell("Retried", (retry) => count(retry.successfulWithRetry)),
      textCell("Failed", (retry) => count(failed(retry))),
      textCell("Attempts", (retry) => `max ${count(retry.maxAttempts)}`),
    ],
  },
  {
    list: "timeLimiters",
    title: "Time limiters",
    trouble: () => 0,
    rate: ({ successful, failed, timeout }) => share(timeout + failed, successful + timeout + failed),
    columns: [
      nameCell,
      textCell("Limit", (limiter) => setting(limiter.timeoutMs)),
      textCell("In time", (limiter) => count(limiter.successful)),
      textCell("Failed", (limiter) => count(limiter.failed)),
      textCell("Timeouts", (limiter) => count(limiter.timeout)),
    ],
  },
];
