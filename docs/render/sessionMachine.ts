/** The statuses of a session as a diagram in `docs/sessions.md`, from the session-manager's table. */
import { transitions } from "@reprise/session-manager/transitions"

const stateOf = (status: string): string => (status === "start" ? "[*]" : status)

/** One arrow for each pair of statuses, with the names of all transitions between them. */
const arrows = (): ReadonlyArray<string> => {
  const all = Object.entries(transitions).flatMap(([transition, { from, to }]) =>
    from.flatMap((start) => to.map((end) => ({ pair: `${stateOf(start)} --> ${end}`, transition })))
  )
  return [...Map.groupBy(all, ({ pair }) => pair)].map(
    ([pair, found]) => `    ${pair}: ${found.map(({ transition }) => transition).join(", ")}`
  )
}

const archived = ["expired", "completed", "aborted", "failed"].map((status) => `    ${status} --> [*]: archived`)

const diagram = (): string => ["```mermaid", "stateDiagram-v2", ...arrows(), ...archived, "```"].join("\n")

const rows = (): string =>
  Object.entries(transitions)
    .map(([transition, { from, to, when }]) => `| ${transition} | ${from.join(", ")} | ${to.join(", ")} | ${when} |`)
    .join("\n")

const begin =
  "<!-- The session machine, written by 'npm run docs' from services/session-manager/src/machine/transitions.ts -->"
const end = "<!-- End of the session machine -->"

/** The page with the diagram and its table up to date; the rest of the page is unchanged. */
export const withSessionMachine = (page: string): string => {
  const before = page.slice(0, page.indexOf(begin) + begin.length)
  const after = page.slice(page.indexOf(end))
  const table = `| transition | from | to | when |\n| --- | --- | --- | --- |\n${rows()}`
  return `${before}\n\n${diagram()}\n\n${table}\n\n${after}`
}
