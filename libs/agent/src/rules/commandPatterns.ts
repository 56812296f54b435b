/**
 * Patterns for commands: the words of one command, separated by blanks and quoted as in a shell. A word `*` stands for any
 * number of words, a `*` in a word for any letters. `npm test` is exactly that; `npm test *` also with more words. Pure.
 */
import { readShell, type Started, startedBy, startedWords, type Word } from "./shellCommands.ts"
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
const namesOf = ({ text }: Word): ReadonlyArray<string> =>
  text.includes("/") ? [text, text.slice(text.lastIndexOf("/") + 1)] : [text]

/** What a shell puts there decides whether it matches. Names of files may be names of programs. */
const isUnknown = (word: Word, program: Word | undefined) => word.computed || (word.globbed && word === program)

/** How a text stands to patterns that hold back: it starts such a command, it may, or it does not. */
type Starts = "yes" | "maybe" | "no"

const compare = (pattern: ReadonlyArray<Word>, command: ReadonlyArray<Word>): Starts => {
  if (matchesExactly(pattern, command)) return "yes"
  const mayMatch = matchesPattern(pattern, command, {
    isAny,
    isUnknown: (word) => isUnknown(word, command[0]),
    matches: (part, { text }) => matchesText(part.text, text)
  })
  return mayMatch ? "maybe" : "no"
}

/** Pairs of letters that are compared at most: a text of usual length has thousands. */
const mostPairs = 20_000_000

const lettersOf = (words: ReadonlyArray<Word>) => words.reduce((sum, { text }) => sum + text.length + 1, 0)

/** The text is read once, for any number of patterns. What is too long to be read, or compared, may start anything. */
export const startsIn = (text: string): ((patterns: ReadonlyArray<string>) => Starts) => {
  let started: ReturnType<typeof startedBy> | undefined
  let left = mostPairs
  const compareStarted = (pattern: ReadonlyArray<Word>, one: Started): Starts => {
    const program = one.words[one.from]
    const [wanted] = pattern
    if (program === undefined || wanted === undefined) return "no"
    left -= wanted.text.includes("*") ? wanted.text.length * program.text.length : 1
    if (left < 0) return "maybe"
    const isNamed = namesOf(program).some((name) => matchesText(wanted.text, name))
    if (!isNamed && !isUnknown(program, program)) return "no"
    const words = startedWords(one)
    left -= lettersOf(pattern) * lettersOf(words)
    if (left < 0) return "maybe"
    const answers = namesOf(program).map((name) => compare(pattern, [{ ...program, text: name }, ...words.slice(1)]))
    return answers.find((answer) => answer === "yes") ?? answers.find((answer) => answer === "maybe") ?? "no"
  }
  return (patterns) => {
    if (patterns.length === 0) return "no"
    if (patterns.includes(every)) return "yes"
    started ??= startedBy(text)
    let answer: Starts = started.whole ? "no" : "maybe"
    for (const pattern of patterns.map(wordsOf)) {
      for (const one of started.commands) {
        if (left < 0) return "maybe"
        const found = compareStarted(pattern, one)
        if (found === "yes") return found
        if (found === "maybe") answer = found
      }
    }
    return answer
  }
}
