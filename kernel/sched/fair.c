/* SPDX-License-Identifier: MIT */
/*
 * Time-sharing tasks (OTHER, BATCH, IDLE): each has a virtual runtime that advances by the CPU time
 * it gets, divided by its weight; the one with the smallest runs next. A task that slept has fallen
 * behind; it keeps a bounded credit, so that it reacts fast but cannot starve the others.
 *
 * Virtual runtimes are only comparable within one queue: a task that moves takes its distance from
 * the queue's min_vruntime along (wake.c, balance.c).
 */
#include "rq.h"

/* 1024 * 1.25^-nice: one nice level is a tenth of the CPU between two equals. */
u32 nice_weight(int nice)
{
	u64 w = (u64)NICE0_WEIGHT << 16;

	for (int n = nice; n < 0; n++)
		w = w * 5 / 4;
	for (int n = nice; n > 0; n--)
		w = w * 4 / 5;
	return (w + (1 << 15)) >> 16;
}

/* Let the next one go first, without giving up more than that. */
void fair_yield(struct rq *rq, struct task *t)
{
	struct heap_node *first = heap_first(&rq->fair);

	if (first && t->se.fair.key <= first->key)
		t->se.fair.key = first->key + 1;
}

bool fair_tick(struct rq *rq, struct task *curr)
{
	struct heap_node *first = heap_first(&rq->fair);

	return first && first->key < curr->se.fair.key;
}
