/** Spellings of the paths of the console's routes, for requests as no browser and no `fetch` would write them. */
import { Arbitrary, Schema } from "effect"

const hexOf = (character: string, isUpper: boolean): string =>
  [...Buffer.from(character, "utf8")]
    .map((byte) => {
      const hex = byte.toString(16).padStart(2, "0")
      return `%${isUpper ? hex.toUpperCase() : hex}`
    })
    .join("")

const swapCase = (character: string): string =>
  character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase()

/** Letters that some reader folds into the plain one. */
const foldsInto: Readonly<Record<string, string>> = { s: "ſ", k: "K", i: "ı" }
const wide = (character: string): string =>
  /[!-~]/.test(character) ? String.fromCodePoint(character.charCodeAt(0) + 0xfee0) : character

const changes = {
  escaped: (character: string) => hexOf(character, false),
  escapedInCapitals: (character: string) => hexOf(character, true),
  escapedTwice: (character: string) => hexOf(character, false).replaceAll("%", "%25"),
  otherCase: swapCase,
  doubled: (character: string) => (character === "/" ? "//" : character),
  folded: (character: string) => hexOf(foldsInto[character] ?? wide(character), false),
  left: (character: string) => character
} as const

const inserted = [
  "/",
  "//",
  "/./",
  "/../",
  "/x/../",
  "%2f",
  "%2F",
  "%252f",
  "\\",
  "%5c",
  "%5C",
  ";",
  ";a=b",
  "?",
  "?a=1",
  "#",
  "%23",
  "%3f",
  "%3b",
  ".",
  "..",
  "%2e",
  "%2e%2e/",
  "%00",
  "%0a",
  "%0d%0a",
  "%20",
  "%09",
  "%ff",
  "%zz",
  "%",
  "*",
  ":id",
  ".json",
  "é",
  `${"x".repeat(120)}`
] as const

const prefixes = [
  "",
  "",
  "",
  "/",
  "//",
  "/.",
  "/x/..",
  "/%2e%2e",
  "\\",
  "/assets/..",
  "/assets/..%2f..",
  "//HOST",
  "http://HOST",
  "HTTP://HOST",
  "http://evil.example",
  "http://HOST/",
  "http://",
  "http:///",
  "https://HOST",
  "http://[",
  "http://user@HOST",
  "ws://HOST"
] as const

export const methods = [
  "GET",
  "GET",
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "QUERY",
  "PROPFIND",
  "CONNECT",
  "get"
] as const

/** What the router takes for a path of its own, or what it reads no further. */
const endings = ["", "?", "?a=1", "#a", ";a=b", "?/../x", "#?a"] as const

const Spelling = Schema.Struct({
  /** Whether only letters are escaped, which the router takes for the same path. */
  isTaken: Schema.Boolean,
  ending: Schema.Literals(endings),
  /** Which path, modulo their number. */
  path: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9_999 })),
  prefix: Schema.Literals(prefixes),
  method: Schema.Literals(methods),
  edits: Schema.Array(
    Schema.Struct({
      at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 79 })),
      change: Schema.Literals([
        "escaped",
        "escapedInCapitals",
        "escapedTwice",
        "otherCase",
        "doubled",
        "folded",
        "left"
      ]),
      insert: Schema.optionalKey(Schema.Literals(inserted))
    })
  ).check(Schema.isMaxLength(6)),
  isUpgrade: Schema.Boolean
})
type Spelling = typeof Spelling.Type

export interface Try {
  readonly method: string
  readonly target: string
  readonly isUpgrade: boolean
  /** The name of the route that it is a spelling of. */
  readonly of: string
}

const edited = (path: string, edits: Spelling["edits"]): string => {
  const letters = [...path]
  for (const { at, change, insert = "" } of edits) {
    const place = at % letters.length
    const letter = path[place] ?? ""
    letters[place] = `${changes[change](letter)}${insert}`
  }
  return letters.join("")
}

const escaped = (path: string, edits: Spelling["edits"]): string => {
  const letters = [...path]
  for (const { at, change } of edits) {
    const place = at % letters.length
    const letter = path[place] ?? ""
    if (letter !== "/") letters[place] = hexOf(letter, change === "escapedInCapitals")
  }
  return letters.join("")
}

export interface Target {
  readonly name: string
  readonly method: string
  readonly path: string
}

/** Tries of these routes, at a console with this host. */
export const spellingsOf = (targets: ReadonlyArray<Target>, host: string): Arbitrary.Arbitrary<Try> =>
  Arbitrary.schema(Spelling).pipe(
    Arbitrary.map(({ edits, ending, isTaken, isUpgrade, method, path: n, prefix }) => {
      const { method: usual, name: of, path } = targets[n % targets.length] ?? { method: "GET", name: "", path: "/" }
      const isWhole = prefix.toLowerCase() === "http://host"
      return isTaken
        ? {
            of,
            method: usual,
            isUpgrade,
            target: `${isWhole ? `http://${host}` : ""}${escaped(path, edits)}${ending}`
          }
        : { of, method, isUpgrade, target: `${prefix.replace("HOST", host)}${edited(path, edits)}${ending}` }
    })
  )

/** The tries that once brought data to whoever had not signed in, and their like: twelve for each path. */
export const knownTries = (path: string): ReadonlyArray<string> => {
  const rest = path.slice("/api".length)
  const all = [...path].map((letter) => (letter === "/" ? "/" : hexOf(letter, false))).join("")
  return [
    `/%61pi${rest}`,
    `/a%70i${rest}`,
    `/ap%69${rest}`,
    `/%41pi${rest}`,
    `//api${rest}`,
    `/api/${rest}`,
    `/API${rest}`,
    `/Api${rest.toUpperCase()}`,
    `/./api${rest}`,
    `/x/..//%61PI/${rest}/`,
    all,
    `${all}//?a=%2f#b`
  ]
}
