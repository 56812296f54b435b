/** What a human types at the full screen, one key at a time. Pure. */
import type { Key as TerminalKey } from "ink"
import type { Edit } from "./Draft.ts"

type Named =
  | Edit
  | "enter"
  | "newLine"
  | "escape"
  | "pageUp"
  | "pageDown"
  | "start"
  | "end"
  | "tab"
  | "backTab"
  | "editor"
  | "interrupt"
  | "endOfInput"

export type Key = { readonly _tag: "Named"; readonly name: Named } | { readonly _tag: "Typed"; readonly text: string }

/** What arrived at once: keys, or several lines, which nobody types at once. */
export type Arrived =
  | { readonly _tag: "Keys"; readonly keys: ReadonlyArray<Key> }
  | { readonly _tag: "Pasted"; readonly text: string }

const named = (name: Named): Key => ({ _tag: "Named", name })

const withControl: Readonly<Record<string, Named>> = {
  c: "interrupt",
  d: "endOfInput",
  a: "lineStart",
  e: "lineEnd",
  u: "clearLine",
  w: "wordBack",
  g: "editor",
  j: "enter",
  m: "enter"
}

const flags: ReadonlyArray<readonly [keyof TerminalKey, Named]> = [
  ["upArrow", "up"],
  ["downArrow", "down"],
  ["leftArrow", "left"],
  ["rightArrow", "right"],
  ["pageUp", "pageUp"],
  ["pageDown", "pageDown"],
  ["home", "start"],
  ["end", "end"],
  ["escape", "escape"],
  ["backspace", "backspace"],
  ["delete", "delete"]
]

const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** Line ends as they are kept. */
export const withLineFeeds = (text: string): string => text.replaceAll(/\r\n?/g, "\n")

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send them
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g

/** Pasted text as it is kept: lines without control characters; a tab is two blanks. */
export const pastedText = (text: string): string =>
  withLineFeeds(text)
    .replaceAll("\t", "  ")
    .replaceAll(control, "")
    .replace(/(?<!\n)\n+$/, "")

const typed = (input: string): Arrived => {
  const text = withLineFeeds(input)
  if (/\n./s.test(text)) return { _tag: "Pasted", text: pastedText(text) }
  const keys = [...characters.segment(text)].flatMap(({ segment }): ReadonlyArray<Key> => {
    if (segment === "\n") return [named("enter")]
    const shown = segment.replaceAll(control, "")
    return shown === "" ? [] : [{ _tag: "Typed", text: shown }]
  })
  return { _tag: "Keys", keys }
}

const keyOf = (input: string, key: TerminalKey): Key | undefined => {
  if (key.return) return named(key.meta || key.shift ? "newLine" : "enter")
  if (key.tab) return named(key.shift ? "backTab" : "tab")
  for (const [flag, name] of flags) if (key[flag] === true) return named(name)
  if (!key.ctrl) return undefined
  const name = withControl[input.toLowerCase()]
  return name === undefined ? { _tag: "Typed", text: "" } : named(name)
}

/** What the terminal's library reports. */
export const arrived = (input: string, key: TerminalKey): Arrived => {
  const one = keyOf(input, key)
  if (one !== undefined) return { _tag: "Keys", keys: one._tag === "Typed" && one.text === "" ? [] : [one] }
  return key.meta ? { _tag: "Keys", keys: [] } : typed(input)
}
