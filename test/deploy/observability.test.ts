import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { metrics } from "@reprise/actor"
import { parseDocument } from "yaml"
import { at, list, parse } from "./manifests.ts"
import { queriesOf } from "./policies.ts"

const fileIn = (folder: string, name: string) =>
  readFileSync(new URL(`../../${folder}/${name}`, import.meta.url), "utf8")

type Values = Readonly<Record<string, ReadonlyArray<string>>>

/** By the name of each series, its labels with their values. The bounds of a histogram are not names. */
const series: ReadonlyMap<string, Values> = new Map(
  Object.entries(metrics).map(([name, { kind, labels }]): [string, Values] =>
    kind === "histogram" ? [`${name}_bucket`, { ...labels, le: [] }] : [name, labels]
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

/** The values that a matcher names: `"failed"`, or `"completed|aborted"` of a pattern. */
const valuesIn = (operator: string, value: string) => (operator.endsWith("~") ? value.split("|") : [value])

/** What an expression names that no service measures: metrics, labels that none of its metrics has, and values. */
const unknownIn = (expression: string): ReadonlyArray<string> => {
  const names = expression.match(/\breprise_\w+/g) ?? []
  const known = names.flatMap((name) => Object.keys(series.get(name) ?? {}))
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(/,\s*/))
  const matched = [...expression.matchAll(/(reprise_\w+)\{([^}]*)\}/g)].flatMap(([, name = "", matchers = ""]) =>
    [...matchers.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].flatMap(([, label = "", operator = "", value = ""]) => {
      const values = series.get(name)?.[label]
      if (values === undefined) return [label]
      return valuesIn(operator, value).flatMap((one) => (values.includes(one) ? [] : [`${label}="${one}"`]))
    })
  )
  return [
    ...names.filter((name) => !series.has(name)),
    ...grouped.filter((label) => !known.includes(label)),
    ...matched
  ]
}

describe("what scales by a metric", () => {
  it("asks only for metrics, labels and services that there are", () => {
    const queries = scaledObjects().flatMap(queriesOf)
    assert.lengthOf(queries, 4)
    assert.deepStrictEqual(queries.flatMap(unknownIn), [])
    const statuses = queries.flatMap((query) => query.match(/status=~"([^"]*)"/)?.[1]?.split("|") ?? [])
    assert.sameMembers(statuses, ["running", "waiting", "paused"])
  })

  it("is refused with a metric, a label or a value that no service has", () => {
    assert.deepStrictEqual(unknownIn('sum(min by (stream) (reprise_waiting{service="gate"}))'), [
      "reprise_waiting",
      "stream",
      "service"
    ])
    assert.deepStrictEqual(unknownIn('max(reprise_runs{host="a"})'), ["host"])
    for (const query of scaledObjects().flatMap(queriesOf)) {
      assert.lengthOf(unknownIn(query.replace(/(service|status)=~?"[^"]*"/, '$1="nobody"')), 1)
    }
  })
})

describe("the dashboard and the alerts", () => {
  const used = () => [...expressions(alerts()), ...panels().flatMap((panel) => expressions(at(panel, "targets")))]

  it("use only metrics, labels and values that the services have", () => {
    assert.deepStrictEqual(used().flatMap(unknownIn), [])
  })

  it("are refused with a metric, a label or a value that no service has", () => {
    assert.deepStrictEqual(unknownIn("sum(reprise_lost_total)"), ["reprise_lost_total"])
    assert.deepStrictEqual(unknownIn("sum by (step) (reprise_runs)"), ["step"])
    assert.deepStrictEqual(unknownIn('reprise_runs{state="x"}'), ["state"])
    assert.deepStrictEqual(unknownIn("reprise_step_seconds"), ["reprise_step_seconds"])
    assert.deepStrictEqual(unknownIn('reprise_turns_total{outcome!~"completed|stopped"}'), ['outcome="stopped"'])
  })

  it("are refused with any of their values misspelt", () => {
    const valued = used().flatMap((expression) =>
      [...expression.matchAll(/reprise_\w+\{[^}]*\}/g)].map(([selector]) => selector)
    )
    assert.isNotEmpty(valued)
    for (const selector of valued) assert.lengthOf(unknownIn(selector.replace(/"(\w)/g, '"x$1')), 1, selector)
  })

  it("show every metric", () => {
    const shown = panels()
      .flatMap((panel) => expressions(at(panel, "targets")))
      .join("\n")
    assert.deepStrictEqual(
      [...series.keys()].filter((name) => !shown.includes(name)),
      []
    )
  })

  it("each have a place where an operator reads what to do", () => {
    const told = fileIn("docs", "operations.md")
    for (const rule of alerts()) assert.include(told, `| \`${at(rule, "alert")}\` |`)
  })
})

/** The containers of services in the manifests before kustomize: where they tell their health, and what their pods are. */
const served = () =>
  [
    "base/orchestrator.yaml",
    "base/reviewer.yaml",
    "base/gate.yaml",
    "base/hosts.yaml",
    "components/console/console.yaml"
  ]
    .flatMap((file) => parse(fileIn("deploy/kubernetes", file)))
    .flatMap((one) =>
      list(at(one, "spec", "template", "spec", "containers")).map((part) => ({
        ports: list(at(part, "ports")).map((port) => String(at(port, "name"))),
        usesNats: String(at(one, "spec", "template", "metadata", "labels", "reprise.dev/uses-nats")),
        isService: list(at(part, "args"))[0] === "serve" && at(part, "name") !== "agent"
      }))
    )

describe("the configuration of Prometheus", () => {
  const configuration: unknown = parseDocument(fileIn("deploy/observability", "prometheus.yaml")).toJS()
  const job = at(configuration, "scrape_configs", 0)

  it("names the job on which the rules rest, and reads them", () => {
    const jobs = expressions(alerts()).flatMap((expression) => expression.match(/job="([^"]*)"/)?.[1] ?? [])
    assert.deepStrictEqual(jobs, [String(at(job, "job_name"))])
    assert.deepStrictEqual(at(configuration, "rule_files"), ["alerts.yaml"])
  })

  it("finds every service in the manifests once, and nothing else", () => {
    const [kept] = list(at(job, "relabel_configs")).filter((one) => at(one, "action") === "keep")
    const pattern = new RegExp(`^(?:${at(kept, "regex")})$`)
    const found = served().map(({ isService, ports, usesNats }) => ({
      isService,
      found: ports.filter((port) => pattern.test(`${usesNats};${port}`)).length
    }))
    assert.lengthOf(
      found.filter(({ isService }) => isService),
      6
    )
    for (const one of found) assert.strictEqual(one.found, one.isService ? 1 : 0)
  })
})
