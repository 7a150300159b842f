# ei.MD.bayes of eiPack for all outcomes: arguments are the file of margins, the file for draws, and the seed.
suppressMessages(library(eiPack))
given <- commandArgs(trailingOnly = TRUE)
table <- read.csv(given[1])
set.seed(as.integer(given[3]))
kinds <- grep("^kind", names(table), value = TRUE)
outcomes <- grep("^outcome", names(table), value = TRUE)
formula <- as.formula(paste("cbind(", paste(outcomes, collapse = ", "), ") ~ cbind(",
                            paste(kinds, collapse = ", "), ")"))
tuning <- tuneMD(formula, data = table, ntunes = 10, totaldraws = 10000)
found <- ei.MD.bayes(formula, data = table, tune.list = tuning, sample = 1000, thin = 100, burnin = 100000,
                     ret.mcmc = TRUE)
beta <- as.matrix(found$draws$Beta) # columns: beta.kind.outcome.area
names <- colnames(beta)
columns <- unlist(lapply(kinds, function(kind) lapply(outcomes, function(outcome)
  grep(paste0("^beta\\.", kind, "\\.", outcome, "\\."), names))))
stopifnot(length(columns) == length(kinds) * length(outcomes) * nrow(table))
write.table(beta[, columns], given[2], sep = ",", row.names = FALSE, col.names = FALSE)
