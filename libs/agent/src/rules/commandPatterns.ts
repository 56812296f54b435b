/**
 * Patterns for commands: the words of one command, separated by blanks and quoted as in a shell. A word `*` stands for any
 * number of words, a `*` in a word for any letters. `npm test` is exactly that; `npm test *` also with more words. Pure.
 */
import { readShell, startedBy, type Word } from "./shellCommands.ts"
import { matchesPattern, matchesText } from "./wildcards.ts"

/** Every command, whatever it is. */
const every = "*"

const isAny = ({ text }: Word) => text === "*"

/** The words of a pattern. Quotes in it have no meaning for `*`. */
const wordsOf = (pattern: string): ReadonlyArray<Word> => readShell(pattern).commands[0] ?? []

/** Undefined: it is valid; else what is wrong with it, for people. */
export const commandPatternProblem = (pattern: string): string | undefined => {
  if (pattern === every) return undefined
  const { commands, plain } = readShell(pattern)
  const [words = []] = commands
  if (!plain || commands.length !== 1 || /[;&|\n]/.test(pattern.replace(/'[^']*'|"[^"]*"/g, ""))) {
    return "a pattern for one command, without ; & | < > $ ` ( ) { } # and line breaks, unless they are quoted"
  }
  return words[0]?.text.includes("*") === true
    ? "a pattern that names its program: only '*' alone may begin with *"
    : undefined
}

const matchesExactly = (pattern: ReadonlyArray<Word>, command: ReadonlyArray<Word>): boolean =>
  matchesPattern(pattern, command, { isAny, matches: (part, { text }) => matchesText(part.text, text) })

/** Whether each command of the text is one of the patterns. A text that holds anything else is not. */
export const allowsCommand = (patterns: ReadonlyArray<string>, text: string): boolean => {
  if (patterns.includes(every)) return true
  const { commands, plain } = readShell(text)
  const read = patterns.map(wordsOf)
  return plain && commands.length > 0 && commands.every((one) => read.some((pattern) => matchesExactly(pattern, one)))
}

/** A program may be named by its path. */
const named = ([first, ...rest]: ReadonlyArray<Word>): ReadonlyArray<ReadonlyArray<Word>> =>
  first === undefined
    ? []
    : [
        [first, ...rest],
        [{ ...first, text: first.text.replace(/^.*\//, "") }, ...rest]
      ]

/** What a shell puts there decides whether it matches. Names of files may be names of programs. */
const isUnknown = (command: ReadonlyArray<Word>) => (word: Word) =>
  word.computed || (word.globbed && word === command[0])

/** How a text stands to patterns that hold back: it starts such a command, it may, or it does not. */
export const startsCommand = (patterns: ReadonlyArray<string>, text: string): "yes" | "maybe" | "no" => {
  if (patterns.length === 0) return "no"
  if (patterns.includes(every)) return "yes"
  const started = startedBy(text).flatMap(named)
  const read = patterns.map(wordsOf)
  if (started.some((one) => read.some((pattern) => matchesExactly(pattern, one)))) return "yes"
  const may = (pattern: ReadonlyArray<Word>, command: ReadonlyArray<Word>) =>
    matchesPattern(pattern, command, {
      isAny,
      isUnknown: isUnknown(command),
      matches: (part, { text }) => matchesText(part.text, text)
    })
  return started.some((one) => read.some((pattern) => may(pattern, one))) ? "maybe" : "no"
}
