/** The layout's rules (docs/decisions and CONTRIBUTING say why). */
const services = "^services/([^/]+)/"

/** Where a service touches the world. Everything else in its `src` decides. */
const impureInside = "work/|(service|main|index)\\.ts$"
const impure = `^services/[^/]+/src/(${impureInside})`

/** The libraries, and which of the others each may import. A new library takes its place here. */
const libraries = {
  protocol: [],
  process: [],
  observability: [],
  "scripted-model": [],
  plan: ["protocol"],
  nats: ["process", "protocol"],
  sandbox: ["process", "protocol"],
  agent: ["process", "protocol", "sandbox"],
  actor: ["nats", "observability", "protocol"],
  testing: ["actor", "agent", "nats", "observability", "plan", "process", "protocol", "sandbox", "scripted-model"]
}

const libraryRules = [
  ...Object.entries(libraries).map(([library, below]) => ({
    name: `libs-${library}-imports-only-what-is-below`,
    comment: `${library} may import ${below.join(", ") || "no other library"}`,
    severity: "error",
    from: { path: `^libs/${library}/src/` },
    to: { path: "^libs/", pathNot: `^libs/(${[library, ...below].join("|")})/` }
  })),
  {
    name: "libs-have-their-place",
    comment: "a new library takes its place in the table of libraries",
    severity: "error",
    from: { path: "^libs/[^/]+/src/", pathNot: `^libs/(${Object.keys(libraries).join("|")})/` },
    to: {}
  }
]

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
    to: { path: "^cli/", pathNot: `^cli/(src/(${[layer, ...below].join("|")})/|node_modules/|package\\.json$)` }
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
      name: "decisions-are-pure",
      comment:
        "what a service decides imports only effect, the protocol, the plan library and the actor's types; IO is in work/ and where layers are composed",
      severity: "error",
      from: { path: "^services/([^/]+)/src/", pathNot: impure },
      to: {
        pathNot: [
          `^services/$1/src/(?!${impureInside})`,
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
    {
      name: "the-console-imports-only-the-protocol",
      comment: "the pages run in a browser: they share with the services what crosses the wire",
      severity: "error",
      from: { path: "^console/src/" },
      to: { path: ["^(cli|services|libs)/", "^test/"], pathNot: "^libs/(protocol/src/|agent/src/Message\\.ts$)" }
    },
    ...libraryRules,
    ...cliRules,
    {
      name: "workspaces-meet-by-name",
      comment: "a relative path into another workspace goes past what that workspace exports",
      severity: "error",
      from: { path: "^(cli|services/[^/]+|libs/[^/]+)/" },
      to: { path: "^(services|libs)/", pathNot: "^$1/", dependencyTypes: ["local"] }
    },
    {
      name: "only-cli-and-main-compose",
      comment: "a service's layer is built by its main.ts and by the command line",
      severity: "error",
      from: { path: "^services/[^/]+/src/", pathNot: "/src/(main|index)\\.ts$" },
      to: { path: "^services/[^/]+/src/service\\.ts$" }
    },
    {
      name: "only-programs-run-effects",
      comment: "NodeRuntime runs a program: the command line, a main.ts, and what they share",
      severity: "error",
      from: { path: "^(libs|services)/[^/]+/src/", pathNot: ["/main\\.ts$", "^libs/actor/src/main/"] },
      to: { path: "@effect/platform-node/.*NodeRuntime" }
    },
    {
      name: "only-tests-know-containers",
      severity: "error",
      from: { pathNot: "^libs/testing/|^test/|/test/" },
      to: { path: "node_modules/testcontainers/" }
    },
    {
      name: "production-imports-no-test-support",
      severity: "error",
      from: { path: "^(cli|services/[^/]+|libs/(?!testing/)[^/]+)/src/", pathNot: "^libs/[^/]+/src/testing" },
      to: { path: "^libs/(testing/|[^/]+/src/testing(\\.ts$|/))" }
    }
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "\\.test\\.ts$" },
    parser: "swc",
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      extensions: [".ts", ".tsx", ".js", ".json"]
    }
  }
}
