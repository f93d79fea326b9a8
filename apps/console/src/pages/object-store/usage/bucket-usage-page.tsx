import { getRouteApi } from '@tanstack/react-router';
import { BucketPage, useBucketName } from '../buckets/bucket-page.tsx';
import { UsagePlots } from './usage-plots.tsx';
import { parseUsageSearch } from './usage-search.ts';

const route = getRouteApi('/shell/w/$workspace/buckets/$bucket/usage');

export function BucketUsagePage() {
  const bucket = useBucketName();
  const { span } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <BucketPage current="usage">
      <UsagePlots
        bucket={bucket}
        span={span}
        onSpan={(next) =>
          void navigate({ search: parseUsageSearch({ span: next }), replace: true, resetScroll: false })
        }
      />
    </BucketPage>
  );
}
