// How values are told.

const STATES = {
  CLOSED: "closed",
  OPEN: "open",
  HALF_OPEN: "half-open",
  FORCED_OPEN: "forced open",
  DISABLED: "disabled",
  METRICS_ONLY: "metrics only",
};

const number = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const whole = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

export const today = () => day.format(new Date());
/** A time, with its day unless that is today. */
export function moment(date) {
  const on = day.format(date);
  return on === today() ? clock.format(date) : `${on}, ${clock.format(date)}`;
}
export const wholeMoment = (date) => whole.format(date);

export const count = (value) => number.format(value);
export const stateWord = (state) => STATES[state] ?? state;
/** A rate in percent; the server says -1 while there are too few calls for one. */
export const percent = (rate) => (rate < 0 ? "–" : `${rate.toFixed(1)} %`);
export const share = (part, whole) => (whole > 0 ? (100 * part) / whole : -1);

/** A setting, exactly. */
export const setting = (ms) => (ms < 1000 ? `${ms} ms` : `${number.format(ms / 1000)} s`);

/** A time that goes on, roughly. */
export function duration(ms) {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${count(Math.floor(seconds / 86400))} d`;
}
