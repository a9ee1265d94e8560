// The database of a service with entities: hot paths run SQL, administrative paths use MikroORM entities on the same
// pool and in the same transaction.
import { type EntitySchema, MikroORM, type SqlEntityManager } from "@mikro-orm/postgresql";
import { CompiledQuery, type ControlledTransaction, PostgresDialect } from "kysely";
import type pg from "pg";
import { type BulkQuery, Database, inStatementSpan, runSingle, type Tx } from "./database.ts";
import { openPool, type PoolOptions } from "./pool.ts";

/** A transaction with an entity manager, which is flushed before the commit. */
export interface MappedTx extends Tx {
  readonly em: SqlEntityManager;
}

export class MappedDatabase extends Database {
  readonly #orm: MikroORM;

  private constructor(pool: pg.Pool, orm: MikroORM) {
    super(pool);
    this.#orm = orm;
  }

  /** @param entities the service's own */
  static override async open(
    options: PoolOptions & { readonly entities: readonly EntitySchema[] },
  ): Promise<MappedDatabase> {
    const pool = openPool(options);
    const orm = await MikroORM.init({
      clientUrl: options.url,
      entities: [...options.entities],
      preferTs: true,
      forceUtcTimezone: true,
      ensureDatabase: false,
      logger: (message) => options.log.warn(message),
      driverOptions: new PostgresDialect({ pool }),
    });
    await orm.em.getConnection().initClient();
    return new MappedDatabase(pool, orm);
  }

  /** An entity manager outside any transaction, for reads. */
  em(): SqlEntityManager {
    return this.#orm.em.fork();
  }

  override async transaction<T>(work: (tx: MappedTx) => Promise<T>): Promise<T> {
    const connection = this.#orm.em.getConnection();
    return connection.transactional(async (trx) => {
      const tx = new OpenMappedTransaction(this.#orm, trx);
      const result = await work(tx);
      await tx.flush();
      return result;
    });
  }

  override async close(): Promise<void> {
    await this.#orm.close(true);
    // Kysely ends the pool only if it has used it.
    if (!this.pool.ending) await super.close();
  }
}

class OpenMappedTransaction implements MappedTx {
  readonly isOpen = true;
  readonly #orm: MikroORM;
  readonly #trx: ControlledTransaction<unknown>;
  #em: SqlEntityManager | undefined;

  constructor(orm: MikroORM, trx: ControlledTransaction<unknown>) {
    this.#orm = orm;
    this.#trx = trx;
  }

  get em(): SqlEntityManager {
    if (!this.#em) {
      this.#em = this.#orm.em.fork();
      this.#em.setTransactionContext(this.#trx);
    }
    return this.#em;
  }

  async rows<Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    return await inStatementSpan(
      text,
      async () => (await this.#trx.executeQuery(CompiledQuery.raw(text, [...params]))).rows as Row[],
    );
  }

  async batched<Item, Answer>(query: BulkQuery<Item, Answer>, item: Item): Promise<Answer> {
    return await runSingle(this, query, item);
  }

  async flush(): Promise<void> {
    await this.#em?.flush();
  }
}
