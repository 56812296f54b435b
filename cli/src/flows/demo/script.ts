/**
 * What the demo's model says. The story: phase 1 is written, reviewed, corrected in the author's session and
 * reviewed again by the same reviewer; phase 2 stops for a human and continues in the same session.
 */
import type { ScriptInput } from "@reprise/scripted-model"

type Reply = ScriptInput["rules"][number]["reply"]

const commit = (message: string) => `git add -A && git commit -q -m "${message}" && git rev-parse HEAD`

const greeter = `const [name = "world"] = process.argv.slice(2)
console.log("Hello, " + name + "!")
`

const documented = `// Greets whoever is named on the command line.
const [name = "world"] = process.argv.slice(2)
console.log("Hello, " + name + "!")
`

const bilingual = `// Greets whoever is named on the command line, in the language given second.
const words = { en: "Hello", eo: "Saluton" }
const [name = "world", language = "en"] = process.argv.slice(2)
console.log((words[language] ?? words.en) + ", " + name + "!")
`

const work = (content: string, message: string, text: string): Reply => [
  { write: { path: "{{cwd}}/greet.mjs", content } },
  { bash: commit(message), capture: { commit: "([0-9a-f]{40})" } },
  { text }
]

const done = (notes: string) => ({ report: { result: "complete", commit: "{{lastCommit}}", notes } })

export const script: ScriptInput = {
  name: "demo",
  rules: [
    {
      match: { role: "author", kind: "work", phase: 1 },
      times: 1,
      reply: work(greeter, "Greet by name", "The greeter is written and committed.")
    },
    { match: { role: "author", kind: "report", phase: 1 }, times: 1, reply: done("The greeter is written.") },
    {
      match: { role: "reviewer", kind: "work", phase: 1 },
      reply: { text: "The program works, but nothing says what it is for." }
    },
    {
      match: { role: "reviewer", kind: "report", phase: 1 },
      times: 1,
      reply: {
        report: {
          readiness: "ready_with_corrections",
          items: [
            {
              id: "R1",
              title: "Say on top of greet.mjs what it does",
              action: "auto_fix",
              reason: "A reader cannot tell what the program is for.",
              priority: "P2"
            }
          ],
          summary: "Works; one correction."
        }
      }
    },
    {
      match: { role: "author", kind: "work", phase: 1 },
      reply: work(documented, "Say what the greeter does", "The comment is there.")
    },
    { match: { role: "author", kind: "report", phase: 1 }, reply: done("R1 is fixed.") },
    { match: { role: "reviewer", kind: "follow-up" }, reply: { text: "The comment is there; nothing new." } },
    {
      match: { role: "reviewer", kind: "report" },
      reply: { report: { readiness: "ready", items: [], summary: "Ready." } }
    },
    {
      match: { role: "author", kind: "work", phase: 2 },
      reply: { text: "The plan does not say which language. I stop here and ask." }
    },
    {
      match: { role: "author", kind: "report", phase: 2 },
      times: 1,
      reply: {
        report: {
          result: "needs_human",
          reason: "The plan names no second language. Which one should the greeter speak?"
        }
      }
    },
    {
      match: { role: "author", kind: "continue" },
      reply: work(bilingual, "Greet in Esperanto too", "The greeter speaks Esperanto now.")
    },
    { match: { role: "author", kind: "report", phase: 2 }, reply: done("The second language is Esperanto.") },
    { match: { role: "reviewer", kind: "work", phase: 2 }, reply: { text: "Both languages work." } }
  ]
}
