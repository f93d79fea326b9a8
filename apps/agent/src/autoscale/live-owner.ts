import { fieldAt, type KubeClient, type KubeObject } from '@svc/kube';
import { agentErrors } from '../errors.ts';
import { AUTOSCALER, ownedBy } from './plan-auto-scale.ts';

/**
 * Makes an autoscaler of ours owned by the live workload, which may have been recreated since: a missing owner would
 * have the autoscaler garbage-collected. Other objects are returned unchanged.
 */
export async function withLiveOwner(
  client: Pick<KubeClient, 'get'>,
  intent: KubeObject,
  keyPrefix: string,
  signal: AbortSignal,
): Promise<KubeObject> {
  const { namespace = '', labels } = intent.metadata;
  if (intent.kind !== AUTOSCALER.kind || labels?.[`${keyPrefix}/auto-scale`] !== 'true') return intent;
  const target = fieldAt(intent, 'spec', 'scaleTargetRef');
  const [apiVersion, kind, name] = ['apiVersion', 'kind', 'name'].map((each) => String(fieldAt(target, each)));
  const owner = await client.get(
    { apiVersion: apiVersion ?? '', kind: kind ?? '', name: name ?? '', namespace },
    signal,
  );
  if (owner !== null) return ownedBy(intent, owner);
  const what = `${kind} ${namespace}/${name}, which the autoscaler is for,`;
  throw agentErrors.NOT_FOUND({ details: { field: 'scaleTargetRef', what, reason: 'no such workload' } });
}
