/**
 * Patterns for files, as in `.gitignore`: `*` stands for any letters of a name, `**` for any folders, a name without a
 * slash for that name in any folder, and a folder for all that is in it.
 */
import { homedir } from "node:os"
import { matchesPattern, matchesText } from "./wildcards.ts"

/** Undefined: it is valid; else what is wrong with it, for people. */
export const filePatternProblem = (pattern: string): string | undefined => {
  const names = pattern.split("/")
  if (["\n", "\r", "\0"].some((sign) => pattern.includes(sign))) return "a path without line breaks"
  if (names.includes("..") || names.includes(".")) return "a path without the names . and .."
  if (names.slice(1, -1).includes("")) return "a path without //"
  if (names.some((name) => name.includes("**") && name !== "**")) return "** as the whole name of a folder"
  return pattern === "/" || /^~[^/]/.test(pattern) ? "a path in the repository, from / or from ~/" : undefined
}

const partsOf = (path: string): ReadonlyArray<string> => path.split("/").filter((name) => name !== "")

/** An absolute path for a pattern from `~/`. */
const expanded = (pattern: string, home: string): string =>
  pattern.startsWith("~/") ? home + pattern.slice(1) : pattern

/** Whether a path, relative to the working tree or absolute, is a file of the pattern or in a folder of it. */
export const matchesFile = (given: string, path: string, home = homedir()): boolean => {
  const pattern = expanded(given, home)
  if (pattern.startsWith("/") !== path.startsWith("/")) return false
  const parts = partsOf(pattern)
  const anywhere = parts.length === 1 && !pattern.startsWith("/") && !pattern.endsWith("/**")
  const names = partsOf(path)
  const reading = {
    isAny: (part: string) => part === "**",
    matches: (part: string, name: string) => matchesText(part, name)
  }
  // A pattern that ends with `**` means what is in the folder, not the folder; that is the same for a file.
  return matchesPattern([...(anywhere ? ["**"] : []), ...parts, "**"], names, reading)
}
