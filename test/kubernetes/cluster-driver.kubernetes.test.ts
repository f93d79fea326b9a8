import { startTestAgent, type TestAgent } from '@svc/agent/testing';
import type { ClusterAccess } from '@svc/kube';
import { SANDBOXES_SERVICE } from '@svc/protocol';
import { driverContract, type ContractSubject, type TestedCapability } from '@svc/sandboxes/testing/driver-contract';
import { kubernetesSubject } from '@svc/sandboxes/testing/kubernetes-subject';
import { runningContract } from '@svc/sandboxes/testing/running-contract';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe } from 'vitest';
import { TEST_IMAGE } from './agent-fixture.ts';
import { helmRequirement, type Kubernetes, kubernetesRequirement, startKubernetes } from './index.ts';
import { createSandboxNamespace, HELPER_IMAGE, type SandboxNamespace } from './sandbox-namespace.ts';
import { listenForTunnels, type TunnelListener } from './tunnel-listener.ts';

const LACKS: readonly TestedCapability[] = [
  'disk_limit',
  'disk_usage',
  'mounts',
  'oom_survival',
  'process_limit',
  'volumes',
];
const REQUEST = { service: SANDBOXES_SERVICE, user: 'svc:sandboxes', role: 'sandboxes' };

const reason = (await kubernetesRequirement()) ?? (await helmRequirement());
const title = 'the Kubernetes driver over the tunnel of an agent';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let kubernetes: Kubernetes;
  let namespace: SandboxNamespace;
  let listener: TunnelListener;
  let agent: TestAgent;

  beforeAll(async () => {
    kubernetes = await startKubernetes();
    namespace = await createSandboxNamespace(kubernetes, 'svc-unused', 'svc-agent');
    listener = await listenForTunnels();
    agent = await startTestAgent({
      platformUrl: listener.url,
      environment: {
        KUBECONFIG: namespace.kubeconfig, // with the rights of the chart's Role, and no others
        SVC_EVENTS_ENABLED: 'false',
        TUNNEL_ENABLED: 'true',
        TUNNEL_KUBERNETES_ENABLED: 'false',
        SANDBOXES_ENABLED: 'true',
        SANDBOXES_NAMESPACE: namespace.name,
        SANDBOXES_HELPER_IMAGE: HELPER_IMAGE,
      },
    });
  });
  afterAll(async () => {
    await agent?.stop();
    await listener?.[Symbol.asyncDispose]();
    await namespace?.[Symbol.asyncDispose]();
    await kubernetes?.stop();
  });

  async function access(): Promise<ClusterAccess> {
    const tunnel = await listener.tunnel();
    return {
      server: new URL(`http://${SANDBOXES_SERVICE}`),
      insecureSkipVerify: false,
      token: { current: () => Promise.resolve(null), invalidate: () => undefined },
      namespace: '',
      connections: { agent: tunnel.connectionsFor(REQUEST), connect: () => tunnel.open(REQUEST) },
    };
  }

  const contractSubject = async (): Promise<ContractSubject> => {
    const options = { kubeconfig: '', namespace: namespace.name, image: TEST_IMAGE, helperImage: HELPER_IMAGE };
    const subject = kubernetesSubject({ ...options, changes: { access, name: 'cluster:cls-test' } });
    const { driver, again, dispose } = subject;
    return { driver, spec: (name) => sampleSpec(name), again: () => again(), dispose };
  };
  describe('as a driver', () => driverContract(contractSubject, LACKS));
  describe('with programs', () => runningContract(contractSubject, LACKS));
});
