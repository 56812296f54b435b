/**
 * KEDA's kind with every field of its specification (https://keda.sh/docs/latest/reference/scaledobject-spec) that one may
 * set, and the parameters of its trigger for Prometheus. The data of Kubernetes do not have it.
 */
import type { SampleOf } from "./fields.ts"

const scaling = {
  stabilizationWindowSeconds: 300,
  selectPolicy: "Max",
  tolerance: "100m",
  policies: [{ type: "Pods", value: 1, periodSeconds: 60 }]
}

const scaledObject = {
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: {
    name: "name",
    namespace: "namespace",
    labels: { labelsKey: "value" },
    annotations: { annotationsKey: "value" }
  },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "name", envSourceContainerName: "container" },
    pollingInterval: 30,
    cooldownPeriod: 300,
    initialCooldownPeriod: 0,
    idleReplicaCount: 0,
    minReplicaCount: 1,
    maxReplicaCount: 100,
    fallback: { failureThreshold: 3, replicas: 6, behavior: "static" },
    advanced: {
      restoreToOriginalReplicaCount: false,
      horizontalPodAutoscalerConfig: { name: "name", behavior: { scaleDown: scaling, scaleUp: scaling } },
      scalingModifiers: { target: "1", activationTarget: "0", metricType: "AverageValue", formula: "a + b" }
    },
    triggers: [
      {
        type: "prometheus",
        name: "name",
        useCachedMetrics: false,
        metricType: "AverageValue",
        authenticationRef: { name: "name", kind: "TriggerAuthentication" },
        // All values are texts, whatever they mean.
        metadata: {
          serverAddress: "http://prometheus:9090",
          query: "up",
          queryParameters: "key=value",
          threshold: "100",
          activationThreshold: "0",
          namespace: "namespace",
          customHeaders: "name=value",
          ignoreNullValues: "true",
          unsafeSsl: "false",
          authModes: "bearer",
          timeout: "1000"
        }
      }
    ]
  }
}

/** The samples of Kubernetes, and the one of KEDA. */
export const withKeda =
  (sampleOf: SampleOf): SampleOf =>
  (apiVersion, kind) =>
    apiVersion === scaledObject.apiVersion && kind === scaledObject.kind ? scaledObject : sampleOf(apiVersion, kind)
