/**
 * Reads the text of a shell command, as far as rules need it: which programs it starts with which words. It does not
 * try to be a shell. What it cannot vouch for makes the text not `plain`, and then no pattern allows it. Pure.
 */

export interface Word {
  /** Without its quotes; what a shell would compute stands there as it was written. */
  readonly text: string
  /** A shell puts something else in its place: a variable, the output of a command, several words. */
  readonly computed: boolean
  /** Holds an unquoted `*`, `?` or `[`, in whose place a shell puts names of files. */
  readonly globbed: boolean
}

export interface ShellText {
  /** The commands between operators, also those inside of substitutions and subshells. */
  readonly commands: ReadonlyArray<ReadonlyArray<Word>>
  /** It consists of nothing but these commands, whose words stand there as they are. */
  readonly plain: boolean
  /** Nothing of it was too long to be read, or too deep in something else. */
  readonly whole: boolean
}

/** Redirections that lose output or join it. */
const harmless = /(?:[12]?>&[12]|(?:[12]|&)?>{1,2}[ \t]*\/dev\/null|<[ \t]*\/dev\/null)(?=[\s;&|]|$)/y

const maxDepth = 20

/** More no kernel passes to a program as one argument. */
const longestText = 128 * 1024

class Reader {
  readonly commands: Array<Array<Word>> = []
  plain = true
  whole = true
  #at = 0
  #depth = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** Reads commands up to the closing sign, or to the end of the text. */
  list(end?: ")" | "`"): void {
    this.#depth += 1
    if (this.#depth > maxDepth) this.whole = false
    let words: Array<Word> = []
    const next = () => {
      if (words.length > 0) this.commands.push(words)
      words = []
    }
    while (this.#at < this.#text.length && this.#depth <= maxDepth) {
      const char = this.#text.charAt(this.#at)
      if (char === end) break
      if (char === " " || char === "\t") this.#at += 1
      else if (this.#skipped(/\\\n/y) || this.#skipped(harmless)) continue
      else if (";&|\n".includes(char)) {
        this.#at += 1
        next()
      } else if (char === "(" || char === ")") {
        this.plain = false
        this.#at += 1
        next()
        if (char === "(") this.list(")")
      } else if (char === "#") {
        this.plain = false
        this.#skipped(/[^\n]*/y)
      } else if (char === "<" || char === ">") this.#redirection()
      else {
        const word = this.#word(end)
        // The number of a redirected stream is not a word.
        if (!(/^\d+$/.test(word.text) && "<>".includes(this.#text.charAt(this.#at) || " "))) words.push(word)
      }
    }
    next()
    if (end !== undefined) this.#at += 1
    this.#depth -= 1
  }

  #skipped(expression: RegExp): boolean {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#text)?.[0] ?? ""
    this.#at += found.length
    return found !== ""
  }

  /** The file does not belong to the command's words; the lines of a here-document are read like commands. */
  #redirection(): void {
    this.plain = false
    this.#skipped(/[<>&|-]+[ \t]*/y)
    if (this.#text.charAt(this.#at) !== "(") this.#word(undefined)
  }

  #word(end: ")" | "`" | undefined): Word {
    let [text, computed, globbed] = ["", false, false]
    const compute = (sign: string) => {
      text += sign
      computed = true
      this.plain = false
    }
    while (this.#at < this.#text.length) {
      const char = this.#text.charAt(this.#at)
      if (" \t\n;&|()<>".includes(char) || char === end) break
      this.#at += 1
      if (char === "'") text += this.#until("'")
      else if (char === '"') this.#quoted((more) => (text += more), compute)
      else if (char === "\\") {
        const escaped = this.#text.charAt(this.#at)
        this.#at += 1
        if (escaped === "") this.plain = false
        if (escaped !== "\n") text += escaped
      } else if (char === "$" || char === "`") this.#expansion(char, compute)
      else if (char === "{" || char === "}") {
        this.plain = false
        text += char
        computed ||= char === "{" && /^[^\s]*(,|\.\.)/.test(this.#text.slice(this.#at, this.#at + 1000))
      } else {
        // Control characters show nothing, and shells differ in what they make of them.
        if (char < " " || char === "\u007f") this.plain = false
        globbed ||= "*?[".includes(char)
        text += char
      }
    }
    return { text, computed, globbed }
  }

  #until(quote: string): string {
    const close = this.#text.indexOf(quote, this.#at)
    if (close === -1) this.plain = false
    const text = this.#text.slice(this.#at, close === -1 ? undefined : close)
    this.#at += text.length + 1
    return text
  }

  #quoted(add: (text: string) => void, compute: (sign: string) => void): void {
    while (this.#at < this.#text.length) {
      const char = this.#text.charAt(this.#at)
      this.#at += 1
      if (char === '"') return
      if (char === "$" || char === "`") this.#expansion(char, compute)
      else if (char === "\\" && '"\\$`\n'.includes(this.#text.charAt(this.#at) || " ")) {
        const escaped = this.#text.charAt(this.#at)
        this.#at += 1
        if (escaped !== "\n") add(escaped)
      } else add(char)
    }
    this.plain = false
  }

  /** A shell puts something in its place, and may run commands for it, which are read too. */
  #expansion(sign: string, compute: (sign: string) => void): void {
    compute(sign)
    if (sign === "`") this.list("`")
    else if (this.#skipped(/'(?:[^'\\]|\\.)*'/sy)) return
    else if (this.#text.charAt(this.#at) === "(") {
      this.#at += 1
      this.list(")")
    }
  }
}

export const readShell = (text: string): ShellText => {
  if (text.length > longestText) return { commands: [], plain: false, whole: false }
  const reader = new Reader(text)
  reader.list()
  return { commands: reader.commands, plain: reader.plain, whole: reader.whole }
}

/** Words before a command that leave it the command: of the grammar, and assignments. */
const isPrefix = ({ text }: Word): boolean =>
  /^(if|then|elif|else|while|until|do|!|\{|\}|time|coproc)$/.test(text) || /^[A-Za-z_]\w*(\[[^\]]*\])?\+?=/.test(text)

/** Programs that start another one, which their arguments name. */
const starters =
  /^(env|command|builtin|exec|nohup|nice|ionice|time|timeout|setsid|stdbuf|sudo|doas|xargs|parallel|find|watch|chroot|unshare|busybox|npx|strace|script)$/

/** Programs that read commands from an argument. */
const readers = /^(sh|ash|dash|bash|zsh|ksh|fish|eval|su|ssh|trap|watch|script|env)$/

const shells = /^(sh|ash|dash|bash|zsh|ksh|fish)$/

/** Programs that add words of their input to the command that they start. */
const fromInput = /^(xargs|parallel)$/

const unknown: Word = { text: "", computed: true, globbed: false }

const nameOf = (word: Word | undefined): string => word?.text.slice(word.text.lastIndexOf("/") + 1) ?? ""

/** A command that may be started: the words of another one from some word on, and what a program adds to them. */
export interface Started {
  readonly words: ReadonlyArray<Word>
  readonly from: number
  readonly added: ReadonlyArray<Word>
}

export const startedWords = ({ added, from, words }: Started): ReadonlyArray<Word> => [...words.slice(from), ...added]

/** So many texts are read that stand in each other. */
const maxTexts = 4

const mostStarted = 20_000

/**
 * Every command that the text may start, as far as it can be told: also behind `env`, `if` and the like, and in what a
 * shell is given to read. For rules that hold back, which would rather see too many. `whole`: these are all.
 */
export const startedBy = (text: string): { readonly commands: ReadonlyArray<Started>; readonly whole: boolean } => {
  const commands: Array<Started> = []
  let whole = true
  const add = (words: ReadonlyArray<Word>, from = 0, added: Started["added"] = []) => {
    if (commands.length < mostStarted) commands.push({ words, from, added })
    else whole = false
  }
  const readCommand = (command: ReadonlyArray<Word>, depth: number): void => {
    const name = nameOf(command[0])
    const startsAnother = starters.test(name)
    const added = fromInput.test(name) ? [unknown] : []
    add(command)
    const last = startsAnother ? command.length : 0
    for (let from = 1; from < last && commands.length < mostStarted; from += 1) add(command, from, added)
    const given = command.slice(1).map((word) => word.text)
    // Without a text or a script it runs its input.
    if (shells.test(name) && given.every((word) => word.startsWith("-"))) add([unknown])
    const isReader = readers.test(name) || (startsAnother && command.some((word) => readers.test(nameOf(word))))
    if (!isReader || given.length === 0) return
    for (const one of [...given, given.join(" ")]) readText(one, depth + 1)
  }
  const readText = (one: string, depth: number): void => {
    if (depth > maxTexts) whole = false
    if (depth > maxTexts || commands.length === mostStarted) return
    const read = readShell(one)
    whole &&= read.whole
    for (const words of read.commands) {
      const first = words.findIndex((word) => !isPrefix(word))
      if (first !== -1) readCommand(words.slice(first), depth)
    }
  }
  readText(text, 0)
  return { commands, whole: whole && commands.length < mostStarted }
}
