# A survey from R: one budget, R's formulas and methods, next to lm without privacy.
library(reticulate)
eptr <- import("eptr", convert = FALSE) # results stay Python objects until py_to_r

# summary, coef, confint and predict for a private fit; terms are named as in lm.
named <- function(series) {
  found <- unlist(py_to_r(series$to_dict()))
  terms <- gsub("\\[T\\.(.*?)\\]", "\\1", sub("^Intercept$", "(Intercept)", names(found)))
  setNames(found, gsub(" ** ", "^", terms, fixed = TRUE))
}
summary.eptr.study.result.Fit <- function(object, ...) cat(py_str(object$summary()), "\n")
coef.eptr.study.result.Fit <- function(object, ...) named(object$params)
confint.eptr.study.result.Fit <- function(object, parm, level = .95, ...) {
  ends <- object$conf_int(level = level)
  cbind(low = named(ends$low), high = named(ends$high))
}
predict.eptr.study.result.Fit <- function(object, newdata, ...) {
  unlist(py_to_r(object$predict(newdata)$tolist()))
}

# Simulated people; yours may be any data frame, or the path of a CSV or Parquet file.
set.seed(1)
n <- 20000
schools <- c("school", "college", "degree")
people <- data.frame(
  age = round(runif(n, 18, 75)),
  sex = sample(c("F", "M"), n, replace = TRUE),
  education = factor(sample(schools, n, replace = TRUE), levels = schools)
)
mean_log <- with(people, 6.5 + .01 * age + .15 * (sex == "M") + .2 * as.integer(education))
people$wage <- exp(mean_log + rnorm(n, sd = .5))

# What is known before looking at the data: ranges, and levels, the first being the reference.
Number <- eptr$codebook$Number
Category <- eptr$codebook$Category
book <- eptr$Codebook(list(
  age = Number(16, 95),
  sex = Category(c("F", "M")),
  education = Category(schools),
  wage = Number(100, 50000)
))
study <- eptr$Study(people, book, epsilon = 2, analyses = 4L) # 4 would be a double in R

model <- log(wage) ~ age + I((age - 45)^2) + sex + education
fit <- study$ols(deparse1(model))
summary(fit)
plain <- coef(lm(model, people))[names(coef(fit))]
print(round(cbind(private = coef(fit), error = named(fit$bse), lm = plain), 6))
print(round(confint(fit), 6))
print(predict(fit, data.frame(age = c(30, 60), sex = "F", education = "degree")), digits = 4)

print(study$mean("wage", by = "sex"))
print(study$logit("I(wage > 3000) ~ age + sex"))
cat(py_str(study$remaining), "\n")
