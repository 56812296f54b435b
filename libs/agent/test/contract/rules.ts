/** What the words of every world's agents mean to the model. */
import type { ScriptInput } from "@reprise/scripted-model"
import { holds } from "./World.ts"

export const captured = (word: string, name: string) => ({
  match: { lastUser: { regex: `^${word} ` } },
  captureUser: { [name]: `^${word} (.*)` }
})

export const commonRules: ScriptInput["rules"] = [
  { ...captured("say", "words"), reply: { text: "{{words}}" } },
  { match: { lastUser: "turn number" }, reply: { text: "turn {{turn}}" } },
  ...holds.map((hold) => ({ match: { lastUser: `hold ${hold}` }, reply: { hold, text: "released" } })),
  { ...captured("run", "command"), reply: [{ bash: "{{command}}" }, { text: "ran" }] },
  { ...captured("write", "path"), reply: [{ write: { path: "{{path}}", content: "written" } }, { text: "wrote" }] },
  { match: { lastUser: "unauthorized" }, reply: { fault: { times: 1000, status: 401, body: { error: "key" } } } },
  {
    match: { lastUser: "limited" },
    reply: {
      text: "served",
      fault: { times: 1, status: 429, retryAfterSeconds: 3600, body: vendorSays("slow down") }
    }
  },
  { match: { lastUser: "drop" }, reply: { text: "recovered", fault: { times: 1, disconnectAfterChars: 3 } } }
]

export function vendorSays(message: string) {
  return { error: { message, type: "x", code: "x" } }
}
