import { getRouteApi } from '@tanstack/react-router';
import { UsagePlots } from './usage-plots.tsx';
import { parseUsageSearch } from './usage-search.ts';
import { useBucketName } from '../../../layouts/bucket-layout.tsx';

const route = getRouteApi('/shell/w/$workspace/buckets/$bucket/usage');

export function BucketUsagePage() {
  const bucket = useBucketName();
  const { span } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <UsagePlots
        bucket={bucket}
        span={span}
        onSpan={(next) =>
          void navigate({ search: parseUsageSearch({ span: next }), replace: true, resetScroll: false })
        }
      />
    </>
  );
}
