import { accountQuotas } from '@svc/accounts';
import { clusterQuotas } from '@svc/clusters';
import { trafficQuotas } from '@svc/http';
import { storeQuotas } from '@svc/object-store';
import { createQuotaCatalogue } from '@svc/quotas';
import { sandboxQuotas } from '@svc/sandboxes';

/** Every quota of the product: each module declares its own, in the order in which they are shown. */
export const quotaCatalogue = createQuotaCatalogue([
  sandboxQuotas,
  storeQuotas,
  clusterQuotas,
  trafficQuotas,
  accountQuotas,
]);
