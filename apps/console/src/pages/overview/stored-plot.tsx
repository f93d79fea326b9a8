import type { Workspace } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { usageQuery } from '../../api/object-store.ts';
import { useSvc } from '../../api/svc-context.ts';
import { formatBytes } from '../../ui/format-bytes.ts';
import { LinePlot } from '../../ui/plots.tsx';

const HISTORY_MS = 48 * 3_600_000;

/** Hourly storage of the workspace; a flat line until there is a history. */
export function StoredPlot({ workspace, sizeBytes }: { workspace: Workspace; sizeBytes: number }) {
  const svc = useSvc();
  const { data } = useQuery(
    usageQuery(svc, workspace, { span: '48h', resolution: 'hour', from: () => new Date(Date.now() - HISTORY_MS) }),
  );
  const history = data?.points.map((point) => point.size_bytes) ?? [];
  return (
    <LinePlot
      label="Stored, last 48 hours"
      values={history.length === 0 ? [sizeBytes] : history}
      format={formatBytes}
    />
  );
}
