import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { metrics } from "@reprise/actor"
import { RunStatus, ServiceName } from "@reprise/protocol"
import { parseDocument } from "yaml"
import { at, list, parse } from "./manifests.ts"
import { queriesOf } from "./policies.ts"

const fileIn = (folder: string, name: string) =>
  readFileSync(new URL(`../../${folder}/${name}`, import.meta.url), "utf8")

const labelsOf: ReadonlyMap<string, ReadonlyArray<string>> = new Map(
  Object.entries(metrics).flatMap(
    ([name, { kind, labels }]): Array<[string, ReadonlyArray<string>]> =>
      kind === "histogram" ? [[`${name}_bucket`, [...labels, "le"]]] : [[name, labels]]
  )
)

const expressions = (value: unknown): ReadonlyArray<string> => list(value).flatMap((one) => [String(at(one, "expr"))])

const alerts = () =>
  list(at(parseDocument(fileIn("deploy/observability", "alerts.yaml")).toJS(), "groups")).flatMap((group) =>
    list(at(group, "rules"))
  )

const panels = () => list(at(JSON.parse(fileIn("deploy/observability", "dashboard.json")), "panels"))

/** What the components for KEDA scale, as it is before kustomize. */
const scaledObjects = () =>
  ["keda/deployments.yaml", "keda-hosts/hosts.yaml"].flatMap((file) =>
    parse(fileIn("deploy/kubernetes/components", file))
  )

/** What an expression names that no service measures: metrics, and labels that none of its metrics has. */
const unknownIn = (expression: string): ReadonlyArray<string> => {
  const names = expression.match(/\breprise_\w+/g) ?? []
  const known = names.flatMap((name) => labelsOf.get(name) ?? [])
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(/,\s*/))
  const matched = [...expression.matchAll(/reprise_\w+\{([^}]*)\}/g)].flatMap(([, matchers = ""]) =>
    [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = ""]) => label)
  )
  return [
    ...names.filter((name) => !labelsOf.has(name)),
    ...[...grouped, ...matched].filter((label) => !known.includes(label))
  ]
}

describe("what scales by a metric", () => {
  it("asks only for metrics, labels and services that there are", () => {
    const queries = scaledObjects().flatMap(queriesOf)
    assert.lengthOf(queries, 4)
    assert.deepStrictEqual(queries.flatMap(unknownIn), [])
    const services = queries.flatMap((query) => query.match(/service="([^"]*)"/)?.[1] ?? [])
    assert.sameMembers(services, ["orchestrator", "reviewer", "gate"])
    assert.includeMembers([...ServiceName.literals], services)
    const statuses = queries.flatMap((query) => query.match(/status=~"([^"]*)"/)?.[1]?.split("|") ?? [])
    assert.sameMembers(statuses, ["running", "waiting", "paused"])
    assert.includeMembers([...RunStatus.literals], statuses)
  })

  it("is refused with a metric or a label that no service has", () => {
    assert.deepStrictEqual(unknownIn('sum(min by (stream) (reprise_waiting{service="gate"}))'), [
      "reprise_waiting",
      "stream",
      "service"
    ])
    assert.deepStrictEqual(unknownIn('max(reprise_runs{host="a"})'), ["host"])
  })
})

describe("the dashboard and the alerts", () => {
  it("use only metrics and labels that the services have", () => {
    const used = [...expressions(alerts()), ...panels().flatMap((panel) => expressions(at(panel, "targets")))]
    assert.deepStrictEqual(used.flatMap(unknownIn), [])
  })

  it("are refused with a metric or a label that no service has", () => {
    assert.deepStrictEqual(unknownIn("sum(reprise_lost_total)"), ["reprise_lost_total"])
    assert.deepStrictEqual(unknownIn("sum by (step) (reprise_runs)"), ["step"])
    assert.deepStrictEqual(unknownIn('reprise_runs{state="x"}'), ["state"])
    assert.deepStrictEqual(unknownIn("reprise_step_seconds"), ["reprise_step_seconds"])
  })

  it("show every metric", () => {
    const shown = panels()
      .flatMap((panel) => expressions(at(panel, "targets")))
      .join("\n")
    assert.deepStrictEqual(
      [...labelsOf.keys()].filter((name) => !shown.includes(name)),
      []
    )
  })

  it("each have a place where an operator reads what to do", () => {
    const told = fileIn("docs", "operations.md")
    for (const rule of alerts()) assert.include(told, `| \`${at(rule, "alert")}\` |`)
  })
})
