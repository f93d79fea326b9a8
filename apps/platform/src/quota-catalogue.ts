import { accountQuotas } from '@svc/accounts';
import { clusterQuotas } from '@svc/clusters';
import { storeQuotas } from '@svc/object-store';
import { createQuotaCatalogue, trafficQuotas } from '@svc/quotas';
import { sandboxQuotas } from '@svc/sandboxes';

/** All quotas of the product, declared by each module, in display order. */
export const quotaCatalogue = createQuotaCatalogue([
  sandboxQuotas,
  storeQuotas,
  clusterQuotas,
  trafficQuotas,
  accountQuotas,
]);
