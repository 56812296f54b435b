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
  | { readonly type: "closed"; readonly id: string }
  /** All that were open then, by the browser's clock; what was heard of later may not be among them yet. */
  | { readonly type: "open"; readonly ids: ReadonlyArray<string>; readonly asOfMs: number }

/** What the browser keeps with the notice that it shows. */
export interface Shown {
  readonly questions: ReadonlyArray<AskedQuestion & { readonly heardAtMs: number }>
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

const wordsOf = (questions: Shown["questions"]): Pick<Notice, "title" | "body"> & { readonly path: Shown["path"] } => {
  const [only, ...others] = questions
  if (only !== undefined && others.length === 0) {
    return { title: only.title, body: only.text, path: `/questions/${encodeURIComponent(only.id)}` }
  }
  const newestFirst = questions.toReversed()
  const named = newestFirst.slice(0, mostNamed).map(({ text }) => lineOf(text))
  const rest = questions.length - named.length
  return {
    title: `${questions.length} questions need you`,
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
    case "closed":
      return questions.filter(({ id }) => id !== message.id)
    case "open":
      return questions.filter(({ heardAtMs, id }) => message.ids.includes(id) || heardAtMs > message.asOfMs - lagMs)
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
  const questions = questionsAfter(before, message, nowMs, isLookedAt)
  if (questions.length === before.length) return "unchanged"
  if (questions.length === 0) return undefined
  const calls = questions.length > before.length && (shown === undefined || nowMs - shown.calledAtMs > quietMs)
  const { body, path, title } = wordsOf(questions)
  return { title, body, calls, shown: { questions, path, calledAtMs: calls ? nowMs : (shown?.calledAtMs ?? nowMs) } }
}
