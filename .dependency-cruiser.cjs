/** The layout's rules (docs/decisions and CONTRIBUTING say why). */
const services = "^services/([^/]+)/"

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
      comment: "domain/ imports only effect, the protocol, the plan library and the actor's types",
      severity: "error",
      from: { path: "^services/[^/]+/src/domain/" },
      to: {
        pathNot: [
          "^services/$1",
          "^services/[^/]+/src/domain/",
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
    }
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
