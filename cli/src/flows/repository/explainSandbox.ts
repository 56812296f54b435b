/** `reprise sandbox explain`: what commands of agents and quality gates may write, read and reach in this repository. */
import { type EngineHere, type Policy, type SandboxShape, shortcomings } from "@reprise/sandbox"
import { Effect } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import { findProject } from "../../project/findProject.ts"
import { standingOf } from "../../system/agents/sandbox.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { data, okJson } from "../../terminal/Printer.ts"
import { visible } from "../../terminal/visible.ts"
import { table } from "../../views/table.ts"

const pathsAs = ({ mounts }: Policy, ...kinds: ReadonlyArray<Policy["mounts"][number]["as"]>) => [
  ...new Set(mounts.flatMap(({ as, path }) => (kinds.includes(as) ? [path] : [])))
]

/** What `--json` prints. */
const explained = (author: Policy, reviewer: Policy, sandbox: SandboxShape, here: EngineHere) => ({
  standing: "used",
  engine: here.engine,
  missing: shortcomings(here),
  gates: sandbox.coversGates,
  write: pathsAs(author, "writable"),
  readOnly: pathsAs(author, "readable"),
  hidden: pathsAs(author, "hidden-file", "hidden-folder"),
  mustNotMake: author.kept.filter((path) => !pathsAs(author, "readable").includes(path)),
  network:
    here.engine === "seatbelt" ? { author: [], reviewer: [] } : { author: author.network, reviewer: reviewer.network },
  environment: author.environment
})

const listed = (items: ReadonlyArray<string>) => (items.length === 0 ? "nothing" : visible(items.join("\n")))

const printed = (it: ReturnType<typeof explained>) =>
  table(
    ["commands", ""],
    [
      ["may write", listed(it.write)],
      ["may read", "everything else, but"],
      ["not change", listed(it.readOnly)],
      ["not see", listed(it.hidden)],
      ["not make", listed(it.mustNotMake)],
      ["may reach, an author's", listed(it.network.author)],
      ["may reach, a reviewer's", listed(it.network.reviewer)],
      ["processes", it.engine === "seatbelt" ? "signal only their own" : "only their own, which end with the command"],
      ["quality gates", it.gates ? "run in the sandbox too, as an author's commands" : "run without the sandbox"],
      ...(it.missing.length === 0 ? [] : [["what is missing here", listed(it.missing)]])
    ]
  )

export const explainSandbox = Effect.fn("explainSandbox")(function* ({ json }: { readonly json: boolean }) {
  const project = yield* findProject(process.cwd())
  const { settings } = yield* loadConfig(project.root)
  const sandbox = yield* standingOf({ project, settings })
  const { standing } = sandbox
  if (standing._tag !== "used") {
    const reason =
      standing._tag === "off" ? 'sandbox.mode is "off": commands run with all your rights.' : standing.reason
    return json ? okJson({ standing: standing._tag, reason }) : data(reason)
  }
  const policyOf = (role: "author" | "reviewer") =>
    Effect.mapError(sandbox.policy(project.root, role), (error) =>
      missing("sandbox", error.message, "Check the permissions of .reprise.", error)
    )
  const found = explained(yield* policyOf("author"), yield* policyOf("reviewer"), sandbox, standing)
  return json ? okJson(found) : data(printed(found))
})
