/**
 * Finds regular expressions of production code that can take quadratic time in a text's length, or more: whoever wrote the
 * text, such as an agent or the author of a repository, could stop everything that the host does. Four ways lead there:
 *
 * - Two parts of an expression match the same text, and each division of it is tried: `scslre` finds these.
 * - Two alternatives of a repeated part do, as in `(?:\r\n|\r|\n)*`: then the time can double with each letter.
 * - An expression that may begin anywhere looks, from each place in what a repetition of it matched, at all that follows. Only
 *   a repetition whose text may hold the beginning of the expression does that, unless nothing after it can fail.
 * - What goes back to a group is compared with each text that the group may have: `\1` is found wherever it stands.
 *
 * A look ahead or behind counts as always true, so more may be found than there is.
 */
import { type AST, RegExpParser } from "@eslint-community/regexpp"
import { parseSync, Visitor } from "oxc-parser"
import { isDisjointWith, JS, NFA } from "refa"
import { analyse } from "scslre"
import { isForTests, lineAt, type Sources } from "./sources.ts"

/** Files that put an expression together while they run, which nobody can look at here, and why it takes no such time. */
export const builtPatterns: Readonly<Record<string, string>> = {
  "cli/src/commands/shellIds.ts": "of constants, over a script of Reprise's own",
  "cli/src/terminal/PastedText.ts": "of a constant without a repetition",
  "libs/actor/src/jetstream/follow.ts": "of subjects, from the beginning, with repetitions that end at a dot",
  "libs/actor/src/messenger/events.ts": "of subjects, from the beginning, with repetitions that end at a dot",
  "libs/agent/src/agentEnvironment.ts": "of two constants, both from the beginning",
  "libs/sandbox/src/caches/cacheRules.ts": "of constants with one asterisk, over names of files"
}

export interface SlowPattern {
  readonly file: string
  readonly line: number
  /** As it is written. */
  readonly pattern: string
  readonly why: string
}

const anything = "[^]*"
const lineStart = String.raw`[\n\r\u2028\u2029]`

/** What a node matches, without what it only looks at; undefined: it matches at the start of the text alone. */
const consumed = (node: AST.Alternative | AST.Element, flags: AST.Flags): string | undefined => {
  switch (node.type) {
    case "Assertion":
      if (node.kind !== "start") return ""
      return flags.multiline ? lineStart : undefined
    case "Alternative": {
      const parts = node.elements.map((one) => consumed(one, flags))
      return parts.includes(undefined) ? undefined : parts.join("")
    }
    case "CapturingGroup":
    case "Group": {
      const parts = node.alternatives.flatMap((one) => consumed(one, flags) ?? [])
      return parts.length === 0 ? undefined : `(?:${parts.join("|")})`
    }
    case "Quantifier": {
      const part = consumed(node.element, flags)
      if (part === undefined) return node.min === 0 ? "" : undefined
      return `(?:${part}){${node.min},${node.max === Infinity ? "" : node.max}}`
    }
    case "Backreference":
      return anything
    default:
      return node.raw
  }
}

/** The letter that stands before the beginning, where an expression begins with a lookbehind for one; else nothing. */
const letterBefore = (node: AST.Element): string => {
  if (node.type !== "Assertion" || node.kind !== "lookbehind") return ""
  const [letter, ...more] = node.alternatives.flatMap(({ elements }) => elements)
  if (letter === undefined || more.length > 0) return ""
  if (letter.type === "CharacterClass") {
    const inner = letter.raw.slice(letter.negate ? 2 : 1, -1)
    return `[${letter.negate === node.negate ? "" : "^"}${inner}]`
  }
  if (letter.type !== "Character" && letter.type !== "CharacterSet") return ""
  return node.negate ? `[^${letter.raw}]` : letter.raw
}

/** Whether a node matches without a letter, whatever stands there. */
const neverFails = (node: AST.Alternative | AST.Element): boolean => {
  switch (node.type) {
    case "Alternative":
      return node.elements.every(neverFails)
    case "CapturingGroup":
    case "Group":
      return node.alternatives.some(neverFails)
    case "Quantifier":
      return node.min === 0 || neverFails(node.element)
    default:
      return false
  }
}

const automaton = (source: string, flags: string): NFA => {
  const literal = { source, flags: flags.replaceAll(/[^isuv]/g, "") }
  const { expression, maxCharacter } = JS.Parser.fromLiteral(literal).parse({ assertions: "throw" })
  return NFA.fromRegex(expression, { maxCharacter })
}

/** Whether some text is of both. */
const overlap = (one: string, other: string, flags: string): boolean =>
  !isDisjointWith(automaton(one, flags), automaton(other, flags))

/** Fewer repetitions, each tried in two ways, take no time. */
const fewRepetitions = 10

/** What stands around a part of an expression. */
interface Around {
  /** Undefined: nothing but the start of the text. */
  readonly before: string | undefined
  /** To the end of the repetition in which it stands, with all that follows there; undefined: it is not repeated. */
  readonly repeated: string | undefined
  /** Nothing after it can fail. */
  readonly isLast: boolean
}

const divisionsAndRestarts = (source: string, flagText: string): ReadonlyArray<string> => {
  const parser = new RegExpParser()
  const flags = parser.parseFlags(flagText)
  const modes = { unicode: flags.unicode, unicodeSets: flags.unicodeSets }
  const { alternatives } = parser.parsePattern(source, 0, source.length, modes)
  const found: Array<string> = []
  const compareAlternatives = (among: ReadonlyArray<AST.Alternative>, repeated: string): void => {
    const texts = among.flatMap((one) => consumed(one, flags) ?? [])
    const isTwice = texts.some((one, at) =>
      texts.slice(at + 1).some((other) => overlap(one + repeated, other + repeated, flagText))
    )
    if (isTwice) found.push(`${among.map(({ raw }) => raw).join(" and ")} match the same text`)
  }
  const look = (among: ReadonlyArray<AST.Alternative>, { before, isLast, repeated }: Around): void => {
    if (repeated !== undefined) compareAlternatives(among, repeated)
    for (const { elements } of among) {
      let prefix = before
      for (const [at, element] of elements.entries()) {
        if (element.type === "Backreference") found.push(`${element.raw} goes back to a group`)
        const rest = elements.slice(at + 1)
        const isEnd = isLast && rest.every(neverFails)
        const isRepetition = element.type === "Quantifier"
        const inner = isRepetition ? element.element : element
        const text = consumed(inner, flags) ?? ""
        const restarts = isRepetition && element.max === Infinity && !isEnd && !flags.sticky && prefix !== undefined
        if (restarts && overlap(`(?:${text})*`, `${anything}(?:${prefix})${anything}`, flagText)) {
          found.push(`it begins again in the text of ${element.raw}`)
        }
        if ("alternatives" in inner) {
          const isRepeated = isRepetition && element.max > fewRepetitions
          const following = rest.map((one) => consumed(one, flags) ?? "").join("") + (repeated ?? "")
          look(inner.alternatives, {
            before: prefix,
            isLast: isEnd && !isRepetition && inner.type !== "Assertion",
            repeated: isRepeated ? `(?:${text})*${following}` : repeated === undefined ? undefined : following
          })
        }
        const part = prefix === "" ? letterBefore(element) || consumed(element, flags) : consumed(element, flags)
        prefix = prefix === undefined || part === undefined ? undefined : prefix + part
      }
    }
  }
  look(alternatives, { before: "", repeated: undefined, isLast: true })
  return found
}

/** Why an expression may take such a time; empty: it cannot. */
const reasonsOf = (source: string, flags: string): ReadonlyArray<string> => {
  const { reports } = analyse({ source, flags }, { reportTypes: { Move: false } })
  const divided = reports.flatMap((report) => {
    if (report.type === "Trade") return `${report.startQuant.raw} and ${report.endQuant.raw} match the same text`
    return report.type === "Self" ? `${report.quant.raw} is repeated, and matches its own text` : []
  })
  return [...divided, ...divisionsAndRestarts(source, flags)]
}

/** Code that runs where users are, the pages of the console too. */
export const isProductCode = (path: string) =>
  /^(?:cli|console|libs\/[^/]+|services\/[^/]+)\/src\/.*\.tsx?$/.test(path) &&
  !isForTests(path) &&
  !/^libs\/(?:testing|scripted-model)\//.test(path)

interface Code {
  readonly start: number
  readonly end: number
}

const patternsIn = (file: string, text: string) => {
  const slow: Array<SlowPattern> = []
  const built: Array<SlowPattern> = []
  const patternAt = ({ end, start }: Code, why: string) => ({
    ...{ file, line: lineAt(text, start), pattern: text.slice(start, end), why }
  })
  const build = (call: Code & { readonly callee: Code }) => {
    if (text.slice(call.callee.start, call.callee.end) === "RegExp")
      built.push(patternAt(call, "it is put together while the program runs"))
  }
  new Visitor({
    Literal: (node) => {
      if (!("regex" in node)) return
      const reasons = reasonsOf(node.regex.pattern, node.regex.flags)
      if (reasons.length > 0) slow.push(patternAt(node, reasons.join("; ")))
    },
    NewExpression: build,
    CallExpression: build
  }).visit(parseSync(file, text).program)
  return { slow, built }
}

/** Expressions that may take such a time, or that nobody can look at without an entry of `builtPatterns`; entries without a use. */
export const findSlowPatterns = (
  sources: Sources
): { readonly slow: ReadonlyArray<SlowPattern>; readonly unused: ReadonlyArray<string> } => {
  const found = [...sources].filter(([path]) => isProductCode(path)).map(([path, text]) => patternsIn(path, text))
  const built = found.flatMap((one) => one.built)
  return {
    slow: [...found.flatMap((one) => one.slow), ...built.filter(({ file }) => builtPatterns[file] === undefined)],
    unused: Object.keys(builtPatterns).filter((entry) => !built.some(({ file }) => file === entry))
  }
}

export const showSlowPattern = ({ file, line, pattern, why }: SlowPattern): string =>
  `${file}:${line} ${pattern} may take quadratic time in a text's length: ${why}. Search without an expression, anchor it, or exclude what it begins with from what it repeats.`
