import { trafficQuotas } from '@svc/http';
import { createQuotaCatalogue } from '@svc/quotas';

/** Every quota of the product: each module declares its own, in the order in which they are shown. */
export const quotaCatalogue = createQuotaCatalogue([trafficQuotas]);
