/** Where a key stands in a TOML file, for messages. Pure; looks at lines, so a key within a text of many lines may fool it. */

const header = /^\s*\[\s*([^[\]]+?)\s*\]/
const key = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/

/** `"gates" . quality` → `gates.quality`. */
const plain = (dotted: string): string =>
  dotted
    .split(".")
    .map((part) => part.trim().replace(/^(["'])(.*)\1$/, "$2"))
    .join(".")

/** From 1; of the section's header where the path is a section's. Undefined when it is written in another way. */
export const lineOfKey = (text: string, path: string): number | undefined => {
  let section = ""
  for (const [index, line] of text.split("\n").entries()) {
    const opened = header.exec(line)?.[1]
    if (opened !== undefined) {
      section = `${plain(opened)}.`
      if (section === `${path}.`) return index + 1
      continue
    }
    const found = key.exec(line)?.[1]
    if (found !== undefined && `${section}${plain(found)}` === path) return index + 1
  }
  return undefined
}
