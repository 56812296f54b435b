/** The one notice of a browser: which questions it tells of, and how it changes. Pure. */

export interface AskedQuestion {
  readonly id: string
  /** Who asks. */
  readonly title: string
  /** Why, in the agent's words. */
  readonly text: string
}

export type ToNotices =
  | { readonly type: "raised"; readonly question: AskedQuestion }
  /** The gate itself has said so; `again`: they have been open for a while. `more`: there are so many besides these. */
  | {
      readonly type: "told"
      readonly questions: ReadonlyArray<AskedQuestion>
      readonly more: number
      readonly again: boolean
    }
  | { readonly type: "closed"; readonly id: string }
  /** All that were open then, by the browser's clock; what was heard of later may not be among them yet. */
  | { readonly type: "open"; readonly ids: ReadonlyArray<string>; readonly asOfMs: number }

/** What the browser keeps with the notice that it shows. */
export interface Shown {
  readonly questions: ReadonlyArray<AskedQuestion & { readonly heardAtMs: number }>
  /** How many more there are, of which only the number is known. Absent: none. */
  readonly more?: number
  /** When it last called for attention. */
  readonly calledAtMs: number
  /** The page that it leads to. */
  readonly path: string
}

export interface Notice {
  readonly title: string
  readonly body: string
  /** Whether it calls for attention again. */
  readonly calls: boolean
  readonly shown: Shown
}

/** What follows a question within this time makes no sound of its own. */
const quietMs = 10_000
/** A list may lag behind the events by a moment. */
const lagMs = 5_000
const mostNamed = 4
const longestLine = 80

const lineOf = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line
}

const wordsOf = (
  questions: Shown["questions"],
  more: number
): Pick<Notice, "title" | "body"> & { readonly path: Shown["path"] } => {
  const [only, ...others] = questions
  if (only !== undefined && others.length + more === 0) {
    return { title: only.title, body: only.text, path: `/questions/${encodeURIComponent(only.id)}` }
  }
  const newestFirst = questions.toReversed()
  const named = newestFirst.slice(0, mostNamed).map(({ text }) => lineOf(text))
  const rest = questions.length + more - named.length
  return {
    title: `${questions.length + more} questions need you`,
    body: [...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join("\n"),
    path: "/"
  }
}

const questionsAfter = (
  questions: Shown["questions"],
  message: ToNotices,
  nowMs: number,
  isLookedAt: boolean
): Shown["questions"] => {
  switch (message.type) {
    case "raised":
      return isLookedAt || questions.some(({ id }) => id === message.question.id)
        ? questions
        : [...questions, { ...message.question, heardAtMs: nowMs }]
    case "told": {
      const known = new Set(questions.map(({ id }) => id))
      const fresh = message.questions.filter(({ id }) => !known.has(id))
      return isLookedAt ? questions : [...questions, ...fresh.map((one) => ({ ...one, heardAtMs: nowMs }))]
    }
    case "closed":
      return questions.filter(({ id }) => id !== message.id)
    case "open":
      return questions.filter(({ heardAtMs, id }) => message.ids.includes(id) || heardAtMs > message.asOfMs - lagMs)
  }
}

/** How many are open of which only the number is known. A page that looks at the list knows all. */
const moreAfter = (shown: Shown | undefined, message: ToNotices, isKnown: boolean, isLookedAt: boolean): number => {
  const { more = 0 } = shown ?? {}
  switch (message.type) {
    case "raised":
      return more
    case "told":
      return isLookedAt ? more : more + message.more
    case "closed":
      return isKnown ? more : Math.max(0, more - 1)
    case "open":
      return 0
  }
}

/**
 * The notice after a message; undefined: none. `isLookedAt`: somebody looks at
 * the console, who needs no notice.
 */
export const noticeAfter = (
  shown: Shown | undefined,
  message: ToNotices,
  nowMs: number,
  isLookedAt: boolean
): Notice | "unchanged" | undefined => {
  const before = shown?.questions ?? []
  const moreBefore = shown?.more ?? 0
  const questions = questionsAfter(before, message, nowMs, isLookedAt)
  const more = moreAfter(shown, message, questions.length < before.length, isLookedAt)
  const isAgain = message.type === "told" && message.again && !isLookedAt
  if (questions.length === before.length && more === moreBefore && !isAgain) return "unchanged"
  if (questions.length + more === 0) return undefined
  const hasMore = questions.length + more > before.length + moreBefore
  const isQuiet = shown !== undefined && nowMs - shown.calledAtMs <= quietMs
  const calls = (hasMore || isAgain) && !isQuiet
  const { body, path, title } = wordsOf(questions, more)
  const counted = more === 0 ? {} : { more }
  const calledAtMs = calls ? nowMs : (shown?.calledAtMs ?? nowMs)
  return { title, body, calls, shown: { questions, ...counted, path, calledAtMs } }
}

/** What the gate tells a browser while no page is open; the protocol has its schema. */
export interface Pushed {
  readonly kind: "raised" | "reminder" | "closed" | "test"
  readonly questions: ReadonlyArray<AskedQuestion>
  readonly more: number
}

/** The changes to the notice that a message of the gate leads to. */
export const changesBy = ({ kind, more, questions }: Pushed): ReadonlyArray<ToNotices> => {
  switch (kind) {
    case "raised":
    case "reminder":
      return [{ type: "told", questions, more, again: kind === "reminder" }]
    case "closed":
      return questions.map(({ id }) => ({ type: "closed", id }))
    case "test":
      return []
  }
}

/**
 * What is shown where a message of the gate leaves no notice: browsers want to see one for each. `shown` begins again with
 * the next question.
 */
export const lastWords = ({ kind, questions: [first, ...others] }: Pushed, nowMs: number): Notice => {
  const shown = { questions: [], calledAtMs: nowMs, path: "/" }
  if (first === undefined || kind === "test") {
    return {
      title: "Reprise reaches this browser",
      body: "This is a test: nothing waits for you.",
      calls: false,
      shown
    }
  }
  return others.length > 0
    ? {
        title: "No longer needed",
        body: `${others.length + 1} questions are closed.`,
        calls: false,
        shown
      }
    : {
        title: first.title,
        body: first.text,
        calls: false,
        shown: { ...shown, path: `/questions/${encodeURIComponent(first.id)}` }
      }
}
