/** The layout's rules (docs/decisions and CONTRIBUTING say why). */
const services = "^services/([^/]+)/"

/** The layers of `cli/`: what each may import besides itself. `main.ts` stands above all. */
const cliLayers = {
  terminal: [],
  project: ["terminal"],
  config: ["project", "terminal"],
  trust: ["config", "project", "terminal"],
  views: ["terminal"],
  system: ["views", "trust", "config", "project", "terminal"],
  flows: ["system", "views", "trust", "config", "project", "terminal"],
  commands: ["flows", "terminal"]
}

const cliRules = [
  ...Object.entries(cliLayers).map(([layer, below]) => ({
    name: `cli-${layer}-imports-only-what-is-below`,
    comment: `commands → flows → system → views config trust project → terminal; ${layer} may import ${below.join(", ") || "no other"}`,
    severity: "error",
    from: { path: `^cli/src/${layer}/` },
    to: { path: "^cli/", pathNot: `^cli/(src/(${[layer, ...below].join("|")})/|package\\.json$)` }
  })),
  {
    name: "cli-has-only-its-layers",
    comment: "a new folder of cli/src takes its place in cliLayers",
    severity: "error",
    from: { path: "^cli/src/", pathNot: `^cli/src/(main\\.ts$|(${Object.keys(cliLayers).join("|")})/)` },
    to: {}
  },
  {
    name: "cli-folders-form-no-circle",
    comment: "flows/run may follow a gate, but then the gate knows nothing of runs",
    severity: "error",
    scope: "folder",
    from: { path: "^cli/src/" },
    to: { circular: true, path: "^cli/src/" }
  }
]

module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } }
    },
    {
      name: "domain-is-pure",
      comment:
        "what a service decides imports only effect, the protocol, the plan library and the actor's types; IO lives in work/, watch/, transcript/ and where layers are composed",
      severity: "error",
      from: {
        path: "^services/([^/]+)/src/",
        pathNot: "^services/[^/]+/src/(work/|watch/|transcript/|(service|main|index)\\.ts$)"
      },
      to: {
        pathNot: [
          "^services/$1/src/(?!work/|watch/|transcript/|(service|main|index)\\.ts$)",
          "^libs/(protocol|plan)/",
          "^libs/actor/src/(Actor|index)\\.ts$",
          "^libs/agent/src/promptIds",
          "node_modules/effect/"
        ]
      }
    },
    {
      name: "services-never-import-each-other",
      severity: "error",
      from: { path: services },
      to: { path: services, pathNot: "^services/$1/" }
    },
    { name: "libs-import-no-service", severity: "error", from: { path: "^libs/" }, to: { path: "^(services|cli)/" } },
    { name: "services-import-no-cli", severity: "error", from: { path: "^services/" }, to: { path: "^cli/" } },
    {
      name: "protocol-imports-only-effect",
      severity: "error",
      from: { path: "^libs/protocol/src" },
      to: { pathNot: ["^libs/protocol/src", "node_modules/effect/"] }
    },
    {
      name: "plan-is-pure",
      severity: "error",
      from: { path: "^libs/plan/src" },
      to: { dependencyTypes: ["core"] }
    },
    {
      name: "only-libs-nats-and-actor-know-nats",
      severity: "error",
      from: { pathNot: "^libs/(nats|actor|testing)/|^test/" },
      to: { path: "node_modules/@nats-io/" }
    },
    ...cliRules
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: ["\\.test\\.ts$", "^test/fixtures/"] },
    parser: "swc",
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      extensions: [".ts", ".js", ".json"]
    }
  }
}
