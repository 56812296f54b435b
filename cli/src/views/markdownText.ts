/** Markdown that Reprise wrote, for people at a terminal: its marks become bold and coloured text. Pure. */
import { dataColor } from "../terminal/Printer.ts"

interface Tones {
  readonly bold: (text: string) => string
  readonly cyan: (text: string) => string
}

const within = (line: string, tones: Tones): string =>
  line
    .replaceAll(/\*\*([^*]+)\*\*/g, (_, words: string) => tones.bold(words))
    .replaceAll(/`([^`]+)`/g, (_, code: string) => tones.cyan(code))

export const markdownText = (markdown: string, tones: Tones = dataColor): string =>
  markdown
    .split("\n")
    .map((line) => {
      const heading = /^#+ (.*)$/.exec(line)?.[1]
      return heading === undefined ? within(line, tones) : tones.bold(within(heading, { ...tones, bold: String }))
    })
    .join("\n")
