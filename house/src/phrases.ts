/**
 * Finds phrases that readers have to read twice, in comments, strings, pages of the console and Markdown. Each stands for a
 * kind of sentence: a clause where a noun would do, a passive without an actor, or a word of our own where the field has one.
 */
import { parseSync, Visitor } from "oxc-parser"
import { lineAt, type Sources } from "./sources.ts"

interface Phrase {
  /** With one blank where a text may wrap. */
  readonly pattern: string
  /** What to write in its place. */
  readonly better: string
}

export const phrases: ReadonlyArray<Phrase> = [
  { pattern: String.raw`\btold so\b`, better: "name what the reader gets: 'gets an update', 'is told that …'" },
  { pattern: String.raw`\b[Oo]f others\b(?!'| that)`, better: "'untrusted', 'foreign', 'external', or whose it is" },
  { pattern: String.raw`\b(?:know|knows|known) of\b(?! no)`, better: "'has', 'knows', or 'is known'" },
  { pattern: String.raw`\b[Ww]ord for word\b`, better: "'unchanged' or 'verbatim'" },
  {
    pattern: String.raw`(?<!\b(?:[Tt]here|[Hh]ere|[Ii]t) )\b(?:is|are|was|were) no (?!(?:longer|more|newer|older|larger|later|doubt|room|reason|need)\b)[a-z]+`,
    better: "'is not a …', or a verb"
  },
  { pattern: String.raw`\b[Aa]n? (?:\w+ )?\w+ of (?:ours|yours|theirs)\b`, better: "'our …', 'your own …'" },
  { pattern: String.raw`\bfor ever\b`, better: "'forever'" },
  { pattern: String.raw`\banew\b`, better: "'again'" },
  { pattern: String.raw`\bmends\b`, better: "'fixes'" },
  {
    pattern: String.raw`\b(?:go|goes|going|gone|went) on by (?:itself|themselves)\b`,
    better: "'continues without you'"
  },
  { pattern: String.raw`\b(?:a|one|its|each|every) look at\b`, better: "the verb: 'reads', 'checks', 'asks'" },
  { pattern: String.raw`\b[Nn]obody (?:may be|is) asked\b`, better: "'no human may allow', 'without a question'" },
  { pattern: String.raw`\b(?:[Ff]or|[Tt]o|[Bb]y|[Oo]f|[Ff]rom) who\b`, better: "'whoever', or the noun" },
  { pattern: String.raw`(?:^|[.:;] )(?:Of|To|From|By|With|For) what\b(?![^.]*\?)`, better: "subject first" },
  { pattern: String.raw`\bthe square of\b`, better: "'quadratic'" },
  { pattern: String.raw`\b(?:is|are|was) no UTF-8\b`, better: "'is not UTF-8'" },
  { pattern: String.raw`\b[Hh]al(?:f|ves) of (?:a )?surrogate pairs?\b`, better: "'lone surrogate'" },
  { pattern: String.raw`\b(?:is|are|was|were) there already\b`, better: "'exists', 'existing'" },
  { pattern: String.raw`\btakes? over what\b`, better: "'merges', 'adopts'" },
  { pattern: String.raw`\bhas no (?:setting|word) against\b`, better: "'cannot be told not to'" },
  { pattern: String.raw`\b[Ss]ince when\b(?![^.]*\?)`, better: "'when … began', 'how long'" },
  { pattern: String.raw`\botherwise than\b`, better: "'unlike', 'differently from'" },
  { pattern: String.raw`\bin (?:its|their|his) hands\b`, better: "'while handling'" },
  { pattern: String.raw`\b(?:agent|it) rests\b`, better: "'is idle'" }
]

/** A comment may go on with an asterisk or slashes on the next line. */
const gap = String.raw`\s+(?:\*\s+|//\s+)?`
const compiled = phrases.map(({ better, pattern }) => ({
  better,
  pattern: new RegExp(pattern.replaceAll(" ", gap), "g")
}))

/** Folders whose texts wait until their code is settled, with the reason. */
export const exempt: Readonly<Record<string, string>> = {
  "house/test/phrases.test.ts": "plants the phrases",
  "libs/sandbox/": "its code is being divided: mend its words with it",
  "services/orchestrator/": "its code is being divided: mend its words with it"
}

export interface HardPhrase {
  readonly file: string
  readonly line: number
  readonly phrase: string
  readonly better: string
}

interface Span {
  readonly start: number
  readonly end: number
}

/** What people read of a source file: comments, strings, templates and text between tags. */
const readableOfCode = (file: string, text: string): ReadonlyArray<Span> => {
  const { comments, program } = parseSync(file, text)
  const spans: Array<Span> = [...comments]
  new Visitor({
    Literal: (node) => {
      if (typeof node.value === "string") spans.push(node)
    },
    TemplateElement: (node) => void spans.push(node),
    JSXText: (node) => void spans.push(node)
  }).visit(program)
  return spans
}

const fence = /(?<![^\n]) {0,3}(```|~~~)[\s\S]*?\n {0,3}\1/g

/** A page without its blocks of code, which stay as blanks so that places are the same. */
const withoutFences = (text: string): string => text.replaceAll(fence, (block) => block.replaceAll(/[^\n]/g, " "))

const inText = (file: string, whole: string, text: string, offset: number): ReadonlyArray<HardPhrase> =>
  compiled.flatMap(({ better, pattern }) =>
    [...text.matchAll(pattern)].map((match) => ({
      file,
      line: lineAt(whole, offset + match.index),
      phrase: match[0].replaceAll(/\s+(?:\*\s+|\/\/\s+)?/g, " "),
      better
    }))
  )

const inFile = (file: string, text: string): ReadonlyArray<HardPhrase> => {
  if (file.endsWith(".md")) return inText(file, text, withoutFences(text), 0)
  if (!/\.tsx?$/.test(file)) return []
  return readableOfCode(file, text).flatMap(({ end, start }) => inText(file, text, text.slice(start, end), start))
}

/** The phrases outside of `exempt`, and entries of `exempt` in which none is any more. */
export const findHardPhrases = (
  sources: Sources
): { readonly hard: ReadonlyArray<HardPhrase>; readonly unused: ReadonlyArray<string> } => {
  const found = [...sources].flatMap(([file, text]) => inFile(file, text))
  const entries = Object.keys(exempt)
  return {
    hard: found.filter(({ file }) => !entries.some((entry) => file.startsWith(entry))),
    unused: entries.filter((entry) => !found.some(({ file }) => file.startsWith(entry)))
  }
}

export const showHardPhrase = ({ better, file, line, phrase }: HardPhrase): string =>
  `${file}:${line} '${phrase}' has to be read twice: write ${better}.`
