/**
 * Claude for tests. Its program is 360 MB, so that `npm ci` leaves it out and `npm ci --prefix test/claude` installs it;
 * the global setup `test/harness/claude.ts` finds it there and names it to the tests.
 */
export const lacksClaude = (process.env["REPRISE_CLAUDE"] ?? "") === ""

/** For tests that are the same on several agents: whether this one is Claude, and is not there. */
export const lacksAgent = (name: string): boolean => name.toLowerCase() === "claude" && lacksClaude
