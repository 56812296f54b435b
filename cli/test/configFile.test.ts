import { assert, describe, it } from "@effect/vitest"
import { Result, Schema, SchemaRepresentation } from "effect"
import { parse } from "smol-toml"
import { configSchema } from "../src/config/jsonSchema.ts"
import { fromDocument } from "../src/config/layers.ts"
import { renderConfigFile } from "../src/config/renderConfigFile.ts"
import { resolve } from "../src/config/resolveConfig.ts"
import { settingsTable } from "../src/config/settingsTable.ts"

const { $schema: _, ...schema } = configSchema()
const codec = SchemaRepresentation.fromJsonSchemaDocument(
  { dialect: "draft-2020-12", schema, definitions: {} },
  { patterns: "apply" }
)
const decode = Schema.decodeUnknownResult(codec as Schema.Codec<unknown>, { onExcessProperty: "error" })
const accepts = (document: unknown): boolean => Result.isSuccess(decode(document))

/** The file after a user has uncommented every setting. */
const uncommented = (text: string): string => text.replaceAll(/^# (?=[A-Za-z]+ = )/gm, "")

const configOf = (text: string) =>
  Result.flatMap(fromDocument(parse(text), "reprise.toml"), (layer) => resolve([layer]))

describe("the file that init writes", () => {
  it("sets nothing but the quality gates that were found", () => {
    const text = renderConfigFile(["npm run lint", "npm test"])
    assert.deepStrictEqual(
      [...Result.getOrThrow(fromDocument(parse(text), "reprise.toml")).values],
      [["gates.quality", ["npm run lint", "npm test"]]]
    )
    assert.isTrue(accepts(parse(text)))
  })

  it("sets nothing at all when no quality gate was found", () => {
    assert.strictEqual(Result.getOrThrow(fromDocument(parse(renderConfigFile([])), "reprise.toml")).values.size, 0)
  })

  it("shows every setting with its meaning", () => {
    const text = renderConfigFile([])
    for (const { description, path, writtenAs } of settingsTable) {
      assert.match(text, new RegExp(`^# ${writtenAs.split(".").at(-1)} = `, "m"), path)
      assert.include(text, `# ${description}\n`)
    }
  })

  it("shows each default, or else an example, and is valid when all of them are uncommented", () => {
    const text = uncommented(renderConfigFile([]))
    assert.isTrue(accepts(parse(text)))
    const config = Result.getOrThrow(configOf(text))
    for (const { example, fallback, path } of settingsTable) {
      assert.deepStrictEqual(config.resolved(path), { value: fallback ?? example, source: "reprise.toml" }, path)
      assert.isDefined(fallback ?? example, path)
    }
  })

  it("keeps commands with quotes and backslashes as they are", () => {
    const gates = ['sh -c "echo \\"hi\\""', "printf 'a\\tb'", "grep -q '#' file"]
    assert.deepStrictEqual(Result.getOrThrow(configOf(renderConfigFile(gates))).resolved("gates.quality").value, gates)
  })

  it("names its JSON schema on the first line", () => {
    assert.strictEqual(renderConfigFile([]).split("\n")[0], "#:schema .reprise/schema.json")
  })
})

describe("the JSON schema of reprise.toml", () => {
  it.each([
    [{ gates: { quality: ["make"], phase: "human" }, limits: { costBudget: 2.5 } }, true],
    [{ gates: { quality: "make" } }, false],
    [{ gates: { qualty: [] } }, false],
    [{ nats: { port: -1 } }, false],
    [{ modle: "a/b" }, false],
    [{ permissions: "workspace" }, true],
    [{ permissions: { mode: "workspace", allow: { commands: ["npm test *"] }, deny: { files: [".env"] } } }, true],
    [{ permissions: { mode: "everything" } }, false],
    [{ permissions: { allow: { command: ["npm test"] } } }, false],
    [{ permissions: { allow: { commands: "npm test" } } }, false]
  ])("judges %j as the loader does: valid is %s", (document, valid) => {
    assert.strictEqual(accepts(document), valid)
    const loaded = Result.flatMap(fromDocument(document, "reprise.toml"), (layer) => resolve([layer]))
    assert.strictEqual(Result.isSuccess(loaded), valid)
  })
})
