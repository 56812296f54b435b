/** The settings that git knows. */
import { execFileSync } from "node:child_process"

/** Of `gitattributes`, or of a later git. */
const others = ["filter.x.process", "filter.x.required", "hook.x.command", "hook.x.event", "remote.x.bundle-uri"]

/** As `git help --config` lists them, with a name in the place of each placeholder. */
export const knownKeys = execFileSync("git", ["help", "--config"], { encoding: "utf8" })
  .split("\n")
  .filter((line) => /^[a-z][\w-]*\./i.test(line))
  .map((key) => key.replaceAll(/<[^>]*>|\*/g, "x"))
  .concat(others)
  // Some are described with what follows them.
  .filter((key) => /\.[a-z][a-z0-9-]*$/i.test(key))

/** A setting as git's own configuration files have it. */
export const sectionOf = (key: string, value: string): string => {
  const [section = "", ...rest] = key.split(".")
  const name = rest.pop() ?? ""
  const subsection = rest.join(".")
  return `[${section}${subsection === "" ? "" : ` "${subsection}"`}]\n\t${name} = "${value}"\n`
}
