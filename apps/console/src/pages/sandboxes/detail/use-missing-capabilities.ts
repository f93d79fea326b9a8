import { useQuery } from '@tanstack/react-query';
import { statusQuery } from '../../../api/queries.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useWorkspace } from '../../../session/use-session.ts';

/** What the platform's driver cannot do, such as `pause`; empty until it is known. */
export function useMissingCapabilities(): ReadonlySet<string> {
  const { data } = useQuery(statusQuery(useSvc(), useWorkspace()));
  return new Set(data?.services.sandboxes.missing_capabilities);
}
