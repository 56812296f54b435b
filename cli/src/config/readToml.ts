/** Reads the text of a TOML file with settings. Pure. */
import { Result } from "effect"
import { parse, TomlError } from "smol-toml"
import { type ConfigProblem, fromDocument, type Layer, problem, type Source } from "./layers.ts"

const header = /^\s*\[\[?([^[\]]+)\]/
const assignment = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/

/** `"gates" . quality` → `gates.quality`. */
const unquoted = (dotted: string): string =>
  dotted
    .split(".")
    .map((part) => part.trim().replace(/^"(.*)"$|^'(.*)'$/, "$1$2"))
    .join(".")

/**
 * The line, from 1, of a setting or of a section's header in a TOML file, for messages. It looks at single lines:
 * undefined if the setting is written in another way, and a key inside a multi-line text may mislead it.
 */
export const lineOfKey = (text: string, path: string): number | undefined => {
  let prefix = ""
  for (const [index, line] of text.split("\n").entries()) {
    const section = header.exec(line)?.[1]
    if (section !== undefined) {
      prefix = `${unquoted(section)}.`
      if (prefix === `${path}.`) return index + 1
      continue
    }
    const key = assignment.exec(line)?.[1]
    if (key !== undefined && `${prefix}${unquoted(key)}` === path) return index + 1
  }
  return undefined
}

const parseToml = (text: string, source: Source): Result.Result<unknown, ConfigProblem> => {
  try {
    return Result.succeed(parse(text))
  } catch (cause) {
    const what =
      cause instanceof TomlError
        ? `line ${cause.line}, column ${cause.column}: ${cause.message.split("\n")[0]}`
        : String(cause)
    const lines = text.split("\n")
    const isThere = (start: RegExp) => lines.some((line) => start.test(line))
    const isTwice = isThere(/^\s*permissions\s*=/) && isThere(/^\s*\[\s*permissions\b/)
    const hint = isTwice
      ? "Beside rules, write 'permissions = …' as 'mode = …' below a line '[permissions]'."
      : undefined
    return problem(source, `${source} is not valid TOML: ${what}`, hint ?? `Fix ${source}.`)
  }
}

/** The settings of a TOML file, or the first mistake in it. */
export const readToml = (text: string, source: Source): Result.Result<Layer, ConfigProblem> =>
  Result.flatMap(parseToml(text, source), (document) => fromDocument(document, source, (path) => lineOfKey(text, path)))
