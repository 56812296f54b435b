/** The readers of text that strangers, repositories and agents write, and the pieces that such texts are made of. */
import { readToml } from "../../cli/src/config/readToml.ts"
import { PastedText } from "../../cli/src/terminal/PastedText.ts"
import { questionText } from "../../cli/src/views/questionText.ts"
import { table } from "../../cli/src/views/table.ts"
import { aQuestion } from "../../cli/test/support/views.ts"
import { readEntry } from "../../libs/actor/src/JournalEntry.ts"
import { readEvent, readMeta } from "../../libs/actor/src/wire.ts"
import { parsePlan } from "../../libs/plan/src/parsing/parsePlan.ts"
import { templateProblems } from "../../libs/plan/src/Template.ts"
import { readStatus } from "../../libs/process/src/workingTree.ts"
import { parseAnswer } from "../../services/gate/src/typedAnswer.ts"
import { templates } from "../../services/orchestrator/src/prompt/templates.ts"
import { decodeReport, withoutBlock } from "../../services/session-manager/src/turn/decodeReport.ts"

export interface Target {
  /** Must take every text of up to `longest` characters in a time that is linear in its length, and throw for none. */
  readonly read: (text: string) => unknown
  readonly pieces: ReadonlyArray<string>
  /** In UTF-16 units: what the product accepts at most, or what an agent may write in one message. */
  readonly longest: number
}

const kibibytes = (count: number) => count * 1024

const spaces = [" ", "\t", "\n", "\r\n"]
const strange = ["\u0000", "\u001b[31m", "\u202e", "\ud800", "é", "😀", "\ufeff"]
const json = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  '"a":',
  "1",
  "null",
  '\\"',
  "\\u0000",
  '"a":{',
  "[[",
  "1e999",
  ...spaces
]

const question = aQuestion()
const withText = (text: string) =>
  aQuestion({
    reason: text,
    options: [{ ...question.options[0], label: text }],
    items: [{ id: text, priority: "P0", title: text, reason: text, action: "auto_fix" }],
    evidence: { ...question.evidence, lastLines: text, diffStat: text, dirty: [text], missingFiles: [text] }
  })

const reportPieces = ["```", "```json\n", "~~~\n", "> ", "````", "result", '"result":"complete"', "x", ...json]

export const targets = {
  plan: {
    read: parsePlan,
    pieces: [
      "#",
      "## Phase 1: A\n",
      "- [ ] ",
      "- [x] P1.1 a\n",
      "```",
      "`",
      "[",
      "]",
      "(",
      ")",
      "*",
      "_",
      ">",
      "|",
      "<",
      "<a ",
      "&amp;",
      "[a]: b\n",
      "[a][b]",
      "---\n",
      "1. ",
      "\\",
      "~",
      "!",
      "a",
      ":",
      ...spaces
    ],
    longest: kibibytes(256)
  },
  "front-matter": {
    read: (text) => parsePlan(`---\n${text}\n---\n## Phase 1: A\n- [ ] P1.1 a\n`),
    pieces: [
      "a: ",
      "- ",
      "{",
      "}",
      "[",
      "]",
      "&a ",
      "*a ",
      "? ",
      "|\n",
      ">\n",
      '"',
      "'",
      "#",
      "!!map ",
      "<<: ",
      "b",
      ...spaces
    ],
    longest: kibibytes(16)
  },
  settings: {
    read: (text) => readToml(text, "reprise.toml"),
    pieces: [
      "[",
      "]",
      "[[",
      "a",
      ".",
      "=",
      '"',
      "'",
      '"""',
      "#",
      "{",
      "}",
      ",",
      "1",
      "-",
      "gates",
      "limits = ",
      "_",
      ...spaces
    ],
    longest: kibibytes(1024)
  },
  status: {
    read: (text) => decodeReport("author-status", text),
    pieces: reportPieces,
    longest: kibibytes(512)
  },
  verdict: {
    read: (text) => [decodeReport("verdict", text), withoutBlock(text)],
    pieces: [...reportPieces, '"items":[', '{"id":"R1"},', '"readiness":"ready"'],
    longest: kibibytes(512)
  },
  envelope: {
    read: (text) => readMeta(() => text),
    pieces: [...json, "a", "-", "00-", ".", "T", "Z"],
    longest: kibibytes(64)
  },
  event: { read: (text) => readEvent("EscalationRaised", text), pieces: json, longest: kibibytes(1024) },
  journal: { read: readEntry, pieces: [...json, '"events":['], longest: kibibytes(1024) },
  question: {
    read: (text) => questionText(withText(text), 0),
    pieces: ["a", "  ", "…", ...spaces, ...strange],
    longest: kibibytes(256)
  },
  table: {
    read: (text) => table(["a", "b"], [[text, text]], 80),
    pieces: ["a", "-", "aaaaaaaaaaaaaaaaaaaaaaaaa", ...spaces, ...strange],
    longest: kibibytes(64)
  },
  answer: {
    read: (text) => parseAnswer(text, question),
    pieces: ["c", ":", "continue", "-", "fix", "a", ...spaces, ...strange],
    longest: kibibytes(1024)
  },
  paste: {
    read: (text) => new PastedText().read(text),
    pieces: ["\u001b[200~", "\u001b[201~", "\u001b[20", "a", "\u0003", ...spaces],
    longest: kibibytes(1024)
  },
  prompt: {
    read: (text) => templateProblems(templates.work, text),
    pieces: ["{", "}", "{{", "}}", "\\{", "a", "{a}", "{phase}", ...spaces],
    longest: kibibytes(256)
  },
  "dirty-files": { read: readStatus, pieces: ["\u0000", " M a", "R  ", "a", ...spaces], longest: kibibytes(1024) }
} as const satisfies Readonly<Record<string, Target>>
export type TargetName = keyof typeof targets
export const isTarget = (name: string): name is TargetName => name in targets
