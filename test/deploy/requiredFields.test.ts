import { assert, describe, it } from "@effect/vitest"
import { structsIn } from "./goStructs.ts"
import { missingFields } from "./requiredFields.ts"

const core = `
type PodSpec struct {
	// List of volumes that can be mounted.
	// +optional
	Volumes []Volume \`json:"volumes,omitempty" patchStrategy:"merge" protobuf:"bytes,1,rep,name=volumes"\`
	// List of containers.
	// +patchMergeKey=name
	Containers []Container \`json:"containers" protobuf:"bytes,2,rep,name=containers"\`
	Host *Host \`json:"host,omitempty"\`
	Ports map[string]Port \`json:"ports,omitempty"\`
}

type Volume struct {
	Name string \`json:"name"\`
	// Where it comes from.
	VolumeSource \`json:",inline"\`
}

type VolumeSource struct {
	// +optional
	Secret *Secret \`json:"secret,omitempty"\`
}

type Secret struct {
	// +required
	SecretName string \`json:"secretName,omitempty"\`
	// Left out when it is zero.
	Mode int \`json:"mode,omitzero"\`
}

type Container struct {
	Name string \`json:"name"\`
	// +optional
	Image string \`json:"image,omitempty"\`
	// +k8s:optional
	Index int \`json:"index"\`
}

type Host struct {
	Path string \`json:"path"\`
}

type Port struct {
	Number int \`json:"number"\`
}
`
const workloads = `
import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type Work struct {
	metav1.ObjectMeta \`json:"metadata,omitempty"\`
	// +optional
	Spec v1.PodSpec \`json:"spec,omitempty"\`
	// +optional
	Status Status \`json:"status,omitempty"\`
}

type Status struct {
	Ready int \`json:"ready"\`
}
`
const structs = new Map([...structsIn(core, "core/v1"), ...structsIn(workloads, "work/v1")])
const missing = (spec: unknown) =>
  missingFields({ apiVersion: "work.k8s.io/v1", kind: "Work", metadata: { name: "one" }, spec }, (name) =>
    structs.get(name)
  )
const containers = [{ name: "one", image: "one" }]

describe("a manifest with required fields", () => {
  const cases: ReadonlyArray<readonly [string, unknown, ReadonlyArray<string>]> = [
    ["nothing when all are there", { containers }, []],
    ["a list", {}, ["Work.spec.containers is missing"]],
    ["what a whole struct would hold", undefined, ["Work.spec.containers is missing"]],
    ["a field that is null", { containers: null }, ["Work.spec.containers is missing"]],
    [
      "one of a list's elements",
      { containers: [...containers, { image: "two" }] },
      ["Work.spec.containers[1].name is missing"]
    ],
    [
      "an image, for which the schema does not ask",
      { containers: [{ name: "one" }] },
      ["Work.spec.containers[0].image is missing"]
    ],
    [
      "one of an inlined struct",
      { containers, volumes: [{ name: "v", secret: {} }] },
      ["Work.spec.volumes[0].secret.secretName is missing"]
    ],
    ["one of a pointer that is there", { containers, host: {} }, ["Work.spec.host.path is missing"]],
    ["one of a table's values", { containers, ports: { http: {} } }, ["Work.spec.ports.http.number is missing"]]
  ]
  for (const [what, spec, found] of cases) {
    it(`is said to miss ${what}`, () => assert.deepStrictEqual(missing(spec), found))
  }

  it("is said to miss its name, whatever its kind", () => {
    const noStructs = () => undefined
    assert.deepStrictEqual(missingFields({ kind: "Work", metadata: {} }, noStructs), ["Work.metadata.name is missing"])
  })
})
