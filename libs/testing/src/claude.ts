/**
 * Claude for tests. `npm ci` leaves out its SDK and its program, which is 360 MB, and `npm ci --prefix test/claude` installs
 * them; the global setup `test/harness/claude.ts` finds the program there and names it to the tests.
 */
import { symlinkSync } from "node:fs"
import { dirname, join } from "node:path"

export const lacksClaude = (process.env["REPRISE_CLAUDE"] ?? "") === ""

/** Puts the SDK where it is looked for when REPRISE_CLAUDE names a stub of the program in this folder: beside it. */
export const linkClaudeSdk = (folder: string): void =>
  symlinkSync(join(dirname(process.env["REPRISE_CLAUDE"] ?? ""), "../.."), join(folder, "node_modules"))

/** For tests that are the same on several agents: whether this one is Claude, and is not there. */
export const lacksAgent = (name: string): boolean => name.toLowerCase() === "claude" && lacksClaude
