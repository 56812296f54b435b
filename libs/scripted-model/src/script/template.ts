import { Result } from "effect"

/** The values that strings in a script may quote as `{{name}}`. */
export type Values = ReadonlyMap<string, string>

/** Fails with the names that have no value. */
type Rendered<A> = Result.Result<A, ReadonlyArray<string>>

const placeholder = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g

/** Fills the placeholders of a text. */
export const renderText = (text: string, values: Values): Rendered<string> => {
  const names = [...text.matchAll(placeholder)].flatMap(([, name]) => (name === undefined ? [] : [name]))
  const missing = names.filter((name) => !values.has(name))
  return missing.length > 0
    ? Result.fail(missing)
    : Result.succeed(text.replace(placeholder, (_, name: string) => values.get(name) ?? ""))
}

/** Fills every string within an object, at any depth. */
export const renderRecord = (
  record: Readonly<Record<string, unknown>>,
  values: Values
): Rendered<Readonly<Record<string, unknown>>> =>
  Result.map(
    Result.all(Object.entries(record).map(([key, item]) => Result.map(render(item, values), (r) => [key, r] as const))),
    Object.fromEntries
  )

/** Fills every string within a JSON value. */
export const render = (value: unknown, values: Values): Rendered<unknown> => {
  if (typeof value === "string") return renderText(value, values)
  if (Array.isArray(value)) return Result.all(value.map((item) => render(item, values)))
  return typeof value === "object" && value !== null ? renderRecord({ ...value }, values) : Result.succeed(value)
}

/** Captures values from a text by regular expressions: group 1, or the whole match. Those that do not match are left out. */
export const captureFrom = (
  patterns: Readonly<Record<string, string>> | undefined,
  text: string
): ReadonlyArray<readonly [string, string]> =>
  Object.entries(patterns ?? {}).flatMap(([name, pattern]) => {
    const match = new RegExp(pattern, "m").exec(text)
    return match === null ? [] : [[name, match[1] ?? match[0]] as const]
  })
